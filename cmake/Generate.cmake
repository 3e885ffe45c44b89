# ops.h, the builders and the op table come from the .sig and .doc lines of src/ops/*.c.
file(GLOB op_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ops/*.c)
find_program(AWK NAMES mawk gawk awk REQUIRED)
set(op_outputs)
foreach(pair "public:ingot/ops.h" "builders:ops/builders.inc" "emit:ops/emit.h" "table:ops/table.inc"
    "docs:ops.md")
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 mode)
  list(GET pair 1 file)
  get_filename_component(dir ${INGOT_GEN}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${dir})
  add_custom_command(OUTPUT ${INGOT_GEN}/${file}
    COMMAND ${AWK} -v mode=${mode} -f ${CMAKE_SOURCE_DIR}/scripts/gen-ops.awk ${op_sources}
            > ${INGOT_GEN}/${file}.tmp
    COMMAND ${CMAKE_COMMAND} -E rename ${INGOT_GEN}/${file}.tmp ${INGOT_GEN}/${file}
    DEPENDS ${op_sources} ${CMAKE_SOURCE_DIR}/scripts/gen-ops.awk VERBATIM)
  list(APPEND op_outputs ${INGOT_GEN}/${file})
endforeach()
add_custom_target(ingot_gen DEPENDS ${op_outputs})
