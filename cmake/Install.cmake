# Headers, both libraries, pkg-config file, CMake package, command, man page, completion.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The static library is one object whose hidden symbols are local, so that the internals can meet
# no symbol of the program they are linked into.
set(one ${CMAKE_BINARY_DIR}/ingot_one.o)
add_custom_command(OUTPUT ${one}
  COMMAND ${CMAKE_LINKER} -r -o ${one} ${INGOT_OBJECTS}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${one}
  DEPENDS ${INGOT_LAYERS} ${INGOT_OBJECTS} COMMAND_EXPAND_LISTS VERBATIM)
add_library(ingot_static STATIC ${one})
set_target_properties(ingot_static PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME ingot)
set_source_files_properties(${one} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
target_include_directories(ingot_static INTERFACE $<INSTALL_INTERFACE:include>)
set(INGOT_PRIVATE_LIBS cpuinfo jansson turbojpeg spng xxhash z)
target_link_libraries(ingot_static INTERFACE ${INGOT_PRIVATE_LIBS} Threads::Threads m)

install(TARGETS ingot ingot_static EXPORT ingot)
install(TARGETS ingot_command)
install(DIRECTORY include/ingot DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES ${INGOT_GEN}/ingot/ops.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot)

list(TRANSFORM INGOT_PRIVATE_LIBS PREPEND -l OUTPUT_VARIABLE flags)
string(JOIN " " INGOT_PC_PRIVATE ${flags} -pthread -lm)
file(RELATIVE_PATH INGOT_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/ingot.pc.in ${CMAKE_BINARY_DIR}/ingot.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/ingot.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)
install(EXPORT ingot NAMESPACE ingot:: FILE ingot-targets.cmake DESTINATION ${package})
configure_package_config_file(cmake/ingot-config.cmake.in ${CMAKE_BINARY_DIR}/ingot-config.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ingot-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ingot-config.cmake
  ${CMAKE_BINARY_DIR}/ingot-config-version.cmake DESTINATION ${package})

install(FILES docs/ingot.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES scripts/completion.bash RENAME ingot
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/ingot)
install(FILES LICENSE ${INGOT_GEN}/ops.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
