/* The other source of truth, and the peer: a CUPTI client that the driver loads
 * (CUDA_INJECTION64_PATH).
 *
 * CUPTI_SIDE=count     counts launches by API call, in FOLDER/PID.cupti (mapped: survives _exit)
 * CUPTI_SIDE=callback  subscribes to the same calls and does as little as can be done
 * CUPTI_SIDE=activity  records kernel activity and throws the buffers away
 *
 * Build: cc -shared -fPIC -O2 -I$CUPTI/include cupti_side.c -o cupti_side.so -L$CUPTI/lib -lcupti
 */
#include <cupti.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kKernel, kKernelEx, kCooperative, kMulti, kLegacy, kHostFunc, kGraph, kKinds };

static struct {
  pid_t pid;
  uint64_t* counts;
} file;

static uint64_t* Counts(void) {
  if (file.pid == getpid()) return file.counts;
  char path[1024];
  snprintf(path, sizeof path, "%s/%d.cupti", getenv("CUPTI_SIDE_FOLDER"), (int)getpid());
  const int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) abort();
  file.counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  file.pid = getpid();
  return file.counts;
}

static int KindOf(CUpti_CallbackId id) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return kKernel;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return kKernelEx;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return kCooperative;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice:
      return kMulti;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync:
      return kLegacy;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_ptsz:
      return kHostFunc;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return kGraph;
    default:
      return -1;
  }
}

static void CUPTIAPI Count(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                           const void* data) {
  (void)user;
  const CUpti_CallbackData* call = data;
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || call->callbackSite != CUPTI_API_ENTER) return;
  const int kind = KindOf(id);
  if (kind >= 0) __atomic_fetch_add(&Counts()[kind], 1, __ATOMIC_RELAXED);
}

static void CUPTIAPI Nothing(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void* data) {
  (void)user, (void)domain, (void)id, (void)data;
}

static void CUPTIAPI GiveBuffer(uint8_t** buffer, size_t* size, size_t* records) {
  *size = 4 << 20;
  *records = 0;
  *buffer = aligned_alloc(8, *size);
}
static void CUPTIAPI TakeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                                size_t valid) {
  (void)context, (void)stream, (void)size, (void)valid;
  free(buffer);
}

static void Subscribe(CUpti_CallbackFunc function) {
  CUpti_SubscriberHandle subscriber;
  if (cuptiSubscribe(&subscriber, function, NULL) != CUPTI_SUCCESS) {
    fprintf(stderr, "cupti_side: another subscriber is there\n");
    return;
  }
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    if (KindOf(id) >= 0) cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
}

int InitializeInjection(void) {
  const char* mode = getenv("CUPTI_SIDE");
  if (mode == NULL) return 1;
  if (strcmp(mode, "count") == 0) {
    Counts();
    Subscribe(Count);
  } else if (strcmp(mode, "callback") == 0) {
    Subscribe(Nothing);
  } else if (strcmp(mode, "activity") == 0) {
    cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  }
  return 1;
}
