/* image_errors FILE...: loads each image as a module, and as a library whose kernel `probe` it asks
 * for. */
#include "client.h"

int main(int argc, char** argv) {
  start(0);
  for (int i = 1; i < argc; ++i) {
    void* image = read_file(argv[i]);
    CUmodule module;
    CUlibrary library;
    SAY(cuModuleLoadData(&module, image));
    CUkernel kernel;
    if (!SAY(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0)))
      SAY(cuLibraryGetKernel(&kernel, library, "probe"));
    free(image);
  }
  return 0;
}
