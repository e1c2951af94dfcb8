// CFITSIO opens addresses of the network by libcurl, which brings two dozen libraries along. Zonal only opens
// files. Where CFITSIO's archive is linked in (ZONAL_STATIC_CFITSIO), these stand in for the functions of
// libcurl that it names: no transfer can be begun, so that CFITSIO reports an address as a file that it
// cannot open.
extern "C" {
[[gnu::visibility("hidden")]] int curl_global_init(long) {
    return 0;
}
[[gnu::visibility("hidden")]] void curl_global_cleanup() {}
[[gnu::visibility("hidden")]] void* curl_easy_init() {
    return nullptr;
}
[[gnu::visibility("hidden")]] void curl_easy_cleanup(void*) {}
[[gnu::visibility("hidden")]] int curl_easy_setopt(void*, int, ...) {
    return 2;
}  // CURLE_FAILED_INIT
[[gnu::visibility("hidden")]] int curl_easy_perform(void*) {
    return 2;
}
}
