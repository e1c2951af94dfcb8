# The libraries that Zonal itself is built on. Their pkg-config targets carry Zonal's prefix because a static
# Zonal makes them again in its consumer's build (zonalConfig.cmake), where they must not meet the consumer's own.
if(ZONAL_WITH_CLI AND NOT ZONAL_WITH_IO)
  message(FATAL_ERROR "ZONAL_WITH_CLI = ON: the command-line tool needs ZONAL_WITH_IO = ON")
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
if(ZONAL_FMT_HEADER_ONLY)
  set(ZONAL_FMT $<BUILD_INTERFACE:fmt::fmt-header-only>)  # nothing for consumers to find
else()
  set(ZONAL_FMT fmt::fmt)
  set(ZONAL_PC_FMT " fmt")
endif()
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
# Headers alone, and of nobody's but our own sources: nothing for consumers to find.
set(ZONAL_EIGEN $<BUILD_INTERFACE:Eigen3::Eigen>)
pkg_check_modules(ZONAL_HWY REQUIRED IMPORTED_TARGET libhwy)
if(ZONAL_WITH_IO)
  pkg_check_modules(ZONAL_CFITSIO REQUIRED IMPORTED_TARGET cfitsio)
  set(ZONAL_CFITSIO PkgConfig::ZONAL_CFITSIO)
  if(ZONAL_STATIC_CFITSIO)  # and no_network.cpp of src/io/fits for libcurl
    find_library(ZONAL_CFITSIO_ARCHIVE NAMES libcfitsio.a REQUIRED)
    set(ZONAL_CFITSIO ${ZONAL_CFITSIO_ARCHIVE} BZip2::BZip2)
  endif()
  pkg_check_modules(ZONAL_ZLIB REQUIRED IMPORTED_TARGET zlib)
  find_package(BZip2 REQUIRED)
  find_package(LibLZMA REQUIRED)
  find_package(nlohmann_json REQUIRED)
  set(ZONAL_JSON $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)  # headers alone, as Eigen's
endif()

if(ZONAL_WITH_MPI)
  enable_language(C)  # for FindMPI, which asks its compiler
  find_package(MPI REQUIRED COMPONENTS C)
endif()

if(ZONAL_WITH_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES all-major)
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know that nvcc has it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  find_package(CUDAToolkit REQUIRED)
endif()
