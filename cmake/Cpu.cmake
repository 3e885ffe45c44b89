# src/cpu: plain files once; kernels, gemm and loop engine once per instruction set with the
# suffix INGOT_ISA. Helpers are static inline, so no AVX-512 copy can leak into generic code.
ingot_layer(cpu)
target_link_libraries(layer_cpu PRIVATE PkgConfig::CPUINFO)

set(ISA_FLAGS_generic "")
set(ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c -mprefer-vector-width=512)
set(ISA_FLAGS_neon "")
if(INGOT_ISAS STREQUAL "auto")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
    set(INGOT_BUILT_ISAS avx512 avx2 generic)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(INGOT_BUILT_ISAS neon generic)
  else()
    set(INGOT_BUILT_ISAS generic)
  endif()
else()
  set(INGOT_BUILT_ISAS ${INGOT_ISAS})
endif()

# A loop that moves whole vectors is meant as it stands: short runs of them, where a call of memcpy
# costs more than the copy.
include(CheckCCompilerFlag)
check_c_compiler_flag(-fno-tree-loop-distribute-patterns HAVE_NO_LOOP_PATTERNS)
set(KERNEL_FLAGS -O3)
if(HAVE_NO_LOOP_PATTERNS AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND KERNEL_FLAGS -fno-tree-loop-distribute-patterns)
endif()

file(GLOB isa_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cpu/kernels/*.c
  ${CMAKE_SOURCE_DIR}/src/cpu/gemm/*.c ${CMAKE_SOURCE_DIR}/src/cpu/loop/*.c)
set(isa_list "")
foreach(isa ${INGOT_BUILT_ISAS})
  add_library(layer_cpu_${isa} OBJECT ${isa_sources})
  target_include_directories(layer_cpu_${isa} PUBLIC
    ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${INGOT_GEN})
  target_compile_options(layer_cpu_${isa} PRIVATE ${KERNEL_FLAGS} ${ISA_FLAGS_${isa}})
  target_compile_definitions(layer_cpu_${isa} PRIVATE INGOT_ISA=${isa} INGOT_ISA_${isa}=1)
  target_link_libraries(layer_cpu_${isa} PRIVATE ingot_flags)
  list(APPEND INGOT_LAYERS layer_cpu_${isa})
  string(APPEND isa_list "ISA(${isa})\n")
endforeach()
file(GENERATE OUTPUT ${INGOT_GEN}/cpu/isas.inc CONTENT "${isa_list}")
