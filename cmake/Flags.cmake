# Warnings, hardening and sanitizers, carried by one interface target.
add_library(ingot_flags INTERFACE)
target_compile_options(ingot_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wundef -Wwrite-strings -Wcast-align -Wformat=2
  -ffp-contract=off -fstack-protector-strong)
target_compile_definitions(ingot_flags INTERFACE _GNU_SOURCE)
if(INGOT_WERROR)
  target_compile_options(ingot_flags INTERFACE -Werror)
endif()
if(INGOT_SANITIZE)
  add_compile_options(-fsanitize=${INGOT_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${INGOT_SANITIZE})
  target_compile_definitions(ingot_flags INTERFACE INGOT_ARENA_DEBUG)
else()
  target_compile_definitions(ingot_flags INTERFACE $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
endif()
