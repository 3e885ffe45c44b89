# One object library per layer (CONTRIBUTING.md has the table); the CPU kernels once per
# instruction set. A layer's target may be built and tested alone.
set(INGOT_GEN ${CMAKE_BINARY_DIR}/gen)

function(ingot_layer name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  if(NOT sources)
    return() # a layer that is still to come
  endif()
  add_library(layer_${name} OBJECT ${sources})
  target_include_directories(layer_${name} PUBLIC
    ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${INGOT_GEN})
  target_link_libraries(layer_${name} PRIVATE ingot_flags)
  if(TARGET ingot_gen)
    add_dependencies(layer_${name} ingot_gen)
  endif()
  set(INGOT_LAYERS ${INGOT_LAYERS} layer_${name} PARENT_SCOPE)
endfunction()

include(cmake/Generate.cmake)

ingot_layer(base)
target_include_directories(layer_base SYSTEM PRIVATE ${RANDOM123_INCLUDE})
ingot_layer(tensor)
include(cmake/Cpu.cmake)
foreach(layer ir ops autodiff passes runtime nn optim data train formats deploy)
  ingot_layer(${layer})
endforeach()

add_library(ingot_deps INTERFACE)
target_link_libraries(ingot_deps INTERFACE PkgConfig::CPUINFO PkgConfig::JANSSON
  PkgConfig::JPEG PkgConfig::SPNG PkgConfig::XXHASH PkgConfig::ZLIB
  Threads::Threads m)

# Everything, internals visible: what the tests link.
set(INGOT_OBJECTS)
foreach(layer ${INGOT_LAYERS})
  list(APPEND INGOT_OBJECTS $<TARGET_OBJECTS:${layer}>)
endforeach()
add_library(ingot_internal STATIC ${INGOT_OBJECTS})
target_include_directories(ingot_internal PUBLIC
  ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${INGOT_GEN})
target_link_libraries(ingot_internal PUBLIC ingot_deps)

add_library(ingot SHARED ${INGOT_OBJECTS})
set_target_properties(ingot PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
target_include_directories(ingot PUBLIC
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<BUILD_INTERFACE:${INGOT_GEN}>
  $<INSTALL_INTERFACE:include>)
target_link_libraries(ingot PRIVATE ingot_deps)
add_library(ingot::ingot ALIAS ingot)
