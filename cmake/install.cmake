# Installation: libraries, headers, a CMake package (components zonal, io and mpi) and pkg-config files. In a wheel, which
# scikit-build-core makes (it sets SKBUILD), the prefix is the Python package's folder.
include(CMakePackageConfigHelpers)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR and CMAKE_INSTALL_INCLUDEDIR: must be relative to the prefix")
endif()
set(ZONAL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/zonal)

# Each library has an export file of its own, so that the package can offer them as components.
function(zonal_install_library target)
  if(SKBUILD AND BUILD_SHARED_LIBS)
    # Wheels hold no symbolic links, so the name for -l is a file for the linker, which points to the one that is there.
    set(namelink NAMELINK_SKIP)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/wheel/lib${target}.so CONTENT "INPUT($<TARGET_SONAME_FILE_NAME:${target}>)\n")
    install(FILES ${PROJECT_BINARY_DIR}/wheel/lib${target}.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  install(TARGETS ${target} EXPORT ${target}Targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${namelink} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT ${target}Targets NAMESPACE zonal:: DESTINATION ${ZONAL_CMAKE_DIR})
  # The prefix is found from the file's own place, so the installed tree can be moved.
  file(RELATIVE_PATH ZONAL_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  # Of a shared library, what it is built on is private. A static one has its consumers link that, so there the
  # names stay on the Requires line: pkg-config --static would ask for the whole chain down to static libcurl.
  if(BUILD_SHARED_LIBS)
    set(ZONAL_PC_PRIVATE "\nRequires.private:")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${target}.pc.in ${PROJECT_BINARY_DIR}/${target}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${target}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

function(zonal_install_package)
  if(NOT TARGET zonal_io)
    list(APPEND left_out PATTERN io EXCLUDE)
  endif()
  if(NOT TARGET zonal_mpi)
    list(APPEND left_out PATTERN mpi.hpp EXCLUDE)
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/zonal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.hpp" ${left_out})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/zonalConfig.cmake.in
    ${PROJECT_BINARY_DIR}/zonalConfig.cmake INSTALL_DESTINATION ${ZONAL_CMAKE_DIR})
  # As with the soname: while the major version is 0, every minor version may break its users.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/zonalConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/zonalConfig.cmake ${PROJECT_BINARY_DIR}/zonalConfigVersion.cmake
    DESTINATION ${ZONAL_CMAKE_DIR})
  if(NOT SKBUILD)  # a wheel has it among its metadata
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endfunction()
