# Headers, both libraries, the command with its man page and completion, and what CMake and
# pkg-config need to find them.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(TARGETS tenon_static tenon_shared EXPORT tenon)
if(TARGET tenon_import)
  install(DIRECTORY import/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
          PATTERN *.h)
  install(TARGETS tenon_import EXPORT tenon)
endif()
if(TARGET tenon_batch)
  install(DIRECTORY batch/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN
          *.h)
  install(TARGETS tenon_batch EXPORT tenon)
endif()
if(TENON_BUILD_CLI)
  install(TARGETS tenon_cli)
  install(FILES cli/tenon.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES cli/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME tenon)
  install(FILES cli/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
          RENAME _tenon)
  install(FILES docs/scene.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon)
  install(DIRECTORY robots DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon
          FILES_MATCHING PATTERN *.xml PATTERN *.urdf PATTERN *.obj)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenon)
install(EXPORT tenon NAMESPACE tenon:: FILE tenonTargets.cmake DESTINATION ${package_dir})
if(TARGET tenon_import)
  set(TENON_HAS_IMPORT ON)
else()
  set(TENON_HAS_IMPORT OFF)
endif()
configure_package_config_file(cmake/tenonConfig.cmake.in tenonConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tenonConfig.cmake ${PROJECT_BINARY_DIR}/tenonConfigVersion.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
configure_file(cmake/tenon.pc.in tenon.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tenon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET tenon_import)
  configure_file(cmake/tenon_import.pc.in tenon_import.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tenon_import.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
