/*
 * Fake libnvidia-ml.so.1 for tests. Self-contained: no NVIDIA header needed.
 * Build:  gcc -shared -fPIC -O1 -Wl,-soname,libnvidia-ml.so.1 -o libnvidia-ml.so.1 nvml_stub.c
 * Use:    LD_LIBRARY_PATH=<dir> ./program
 *
 * Behaviour is driven by environment variables, read on every call:
 *   STUB_INIT_RET   return code of nvmlInit_v2            (default 0)
 *   STUB_GPUS       number of GPUs                        (default 2)
 *   STUB_NAME       device name                           (default "NVIDIA H100 80GB HBM3")
 *   STUB_GPM        0: device has no GPM                  (default 1)
 *   STUB_GPM_RET    return code of nvmlGpmSampleGet       (default 0)
 *   STUB_LOST       index of a GPU whose queries return 15 (GPU_IS_LOST); default none
 *   STUB_MEM_RET    return code of nvmlDeviceGetMemoryInfo (3 = unified-memory SoC)
 *   STUB_UTIL_RET   return code of nvmlDeviceGetUtilizationRates (3 = MIG)
 *   STUB_DRAM       DRAM_BW_UTIL percentage               (default 62.5)
 *   STUB_SM         SM_UTIL percentage                    (default 88)
 *   STUB_MIG        1: GPU 0 has GPU instances 1 and 2 in MIG slots 1 and 2; slot 0 is a gap
 * -DSTUB_OLD_DRIVER leaves the GPM symbols out, as a pre-Hopper-era driver would.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int ret_t;
struct dev { int index; int gi; /* GPU instance of a MIG handle, 0 for a GPU */ };
typedef struct dev *dev_t_;
static struct dev devs[16];
static struct dev instances[3];
static int inited;

static long env(const char *k, long d) { const char *v = getenv(k); return v && *v ? strtol(v, 0, 10) : d; }
static double envd(const char *k, double d) { const char *v = getenv(k); return v && *v ? strtod(v, 0) : d; }
static int lost(dev_t_ d) { return d->index == env("STUB_LOST", -1); }
static void put(char *b, unsigned n, const char *s) { snprintf(b, n, "%s", s); }
#define CHECK(d) do { if (!inited) return 1; if (!(d)) return 2; if (lost(d)) return 15; } while (0)

ret_t nvmlInit_v2(void) { long r = env("STUB_INIT_RET", 0); if (r == 0) inited++; return (ret_t)r; }
ret_t nvmlInitWithFlags(unsigned f) { (void)f; return nvmlInit_v2(); }
ret_t nvmlShutdown(void) { if (!inited) return 1; inited--; return 0; }
const char *nvmlErrorString(ret_t r) {
	switch (r) {
	case 0: return "Success";
	case 1: return "Uninitialized";
	case 2: return "Invalid Argument";
	case 3: return "Not Supported";
	case 4: return "Insufficient Permissions";
	case 6: return "Not Found";
	case 9: return "Driver Not Loaded";
	case 12: return "NVML Shared Library Not Found";
	case 13: return "Function Not Found";
	case 15: return "GPU is lost";
	case 18: return "Driver/library version mismatch";
	case 999: return "Unknown Error";
	}
	return "Unknown Error code";
}
ret_t nvmlSystemGetDriverVersion(char *b, unsigned n) { if (!inited) return 1; put(b, n, "580.95.05"); return 0; }
ret_t nvmlSystemGetNVMLVersion(char *b, unsigned n) { put(b, n, "13.580.95.05"); return 0; }
ret_t nvmlSystemGetCudaDriverVersion(int *v) { *v = 13000; return 0; }
ret_t nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = 13000; return 0; }
ret_t nvmlDeviceGetCount_v2(unsigned *n) { if (!inited) return 1; *n = (unsigned)env("STUB_GPUS", 2); return 0; }
ret_t nvmlDeviceGetHandleByIndex_v2(unsigned i, dev_t_ *d) {
	if (!inited) return 1;
	if (i >= env("STUB_GPUS", 2) || i >= 16) return 2;
	devs[i].index = (int)i; *d = &devs[i];
	return lost(*d) ? 15 : 0;
}
ret_t nvmlDeviceGetName(dev_t_ d, char *b, unsigned n) {
	CHECK(d); const char *s = getenv("STUB_NAME"); if (!s) s = "NVIDIA H100 80GB HBM3";
	snprintf(b, n, "%s%s", s, d->gi == 1 ? " MIG 3g.40gb" : d->gi ? " MIG 1g.10gb" : ""); return 0;
}
ret_t nvmlDeviceGetUUID(dev_t_ d, char *b, unsigned n) {
	CHECK(d); snprintf(b, n, "GPU-00000000-0000-0000-0000-%012d", d->index); return 0;
}
ret_t nvmlDeviceGetArchitecture(dev_t_ d, unsigned *a) { CHECK(d); *a = 9; return 0; }
static int mig_memory(dev_t_ d, unsigned long long *total, unsigned long long *used) {
	if (!d->gi) return 0;
	*total = d->gi == 1 ? 42949672960ULL : 10737418240ULL; /* 40 and 10 GiB */
	*used = d->gi == 1 ? 21474836480ULL : 10737418240ULL;  /* 20 and 10 GiB */
	return 1;
}
struct mem { unsigned long long total, free, used; };
ret_t nvmlDeviceGetMemoryInfo(dev_t_ d, struct mem *m) {
	CHECK(d); if (mig_memory(d, &m->total, &m->used)) return 0;
	long r = env("STUB_MEM_RET", 0); if (r) return (ret_t)r;
	m->total = 85520809984ULL; m->used = 70000000000ULL; m->free = m->total - m->used; return 0;
}
struct mem2 { unsigned version; unsigned long long total, reserved, free, used; };
ret_t nvmlDeviceGetMemoryInfo_v2(dev_t_ d, struct mem2 *m) {
	CHECK(d); if (mig_memory(d, &m->total, &m->used)) return 0;
	long r = env("STUB_MEM_RET", 0); if (r) return (ret_t)r;
	if (m->version != (sizeof(*m) | (2u << 24))) return 25;
	m->total = 85520809984ULL; m->reserved = 600000000ULL; m->used = 70000000000ULL;
	m->free = m->total - m->used - m->reserved; return 0;
}
struct util { unsigned gpu, memory; };
ret_t nvmlDeviceGetUtilizationRates(dev_t_ d, struct util *u) {
	CHECK(d); long r = env("STUB_UTIL_RET", 0); if (r) return (ret_t)r;
	u->gpu = 100; u->memory = 55; return 0;
}
ret_t nvmlDeviceGetPowerUsage(dev_t_ d, unsigned *mw) { CHECK(d); *mw = 512345; return 0; }
ret_t nvmlDeviceGetEnforcedPowerLimit(dev_t_ d, unsigned *mw) { CHECK(d); *mw = 700000; return 0; }
ret_t nvmlDeviceGetTotalEnergyConsumption(dev_t_ d, unsigned long long *mj) {
	CHECK(d); struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
	*mj = (unsigned long long)t.tv_sec * 512345ULL + (unsigned long long)t.tv_nsec * 512345ULL / 1000000000ULL; return 0;
}
ret_t nvmlDeviceGetTemperature(dev_t_ d, int s, unsigned *t) { CHECK(d); (void)s; *t = 61; return 0; }
ret_t nvmlDeviceGetClockInfo(dev_t_ d, int t, unsigned *mhz) { CHECK(d); *mhz = t == 2 ? 2619 : 1755; return 0; }
ret_t nvmlDeviceGetMaxClockInfo(dev_t_ d, int t, unsigned *mhz) { CHECK(d); *mhz = t == 2 ? 2619 : 1980; return 0; }
ret_t nvmlDeviceGetMemoryBusWidth(dev_t_ d, unsigned *w) { CHECK(d); *w = 5120; return 0; }
ret_t nvmlDeviceGetPcieThroughput(dev_t_ d, int c, unsigned *kb) { CHECK(d); *kb = c == 0 ? 120000 : 340000; return 0; }
ret_t nvmlDeviceGetMigMode(dev_t_ d, unsigned *c, unsigned *p) { CHECK(d); *c = *p = 0; return 0; }
ret_t nvmlDeviceGetMaxMigDeviceCount(dev_t_ d, unsigned *n) { CHECK(d); *n = env("STUB_MIG", 0) && !d->index ? 7 : 0; return 0; }
ret_t nvmlDeviceGetMigDeviceHandleByIndex(dev_t_ d, unsigned i, dev_t_ *m) {
	CHECK(d); if (!env("STUB_MIG", 0) || d->index) return 3;
	if (i != 1 && i != 2) return 6;
	instances[i].index = d->index; instances[i].gi = (int)i; *m = &instances[i]; return 0;
}
ret_t nvmlDeviceGetGpuInstanceId(dev_t_ d, unsigned *id) { CHECK(d); if (!d->gi) return 3; *id = (unsigned)d->gi; return 0; }

#ifndef STUB_OLD_DRIVER
/* GPM ------------------------------------------------------------------- */
struct nvmlGpmSample_st { struct timespec t; int dev, gi, filled; };
typedef struct nvmlGpmSample_st *sample_t;
struct info { char *shortName, *longName, *unit; };
struct metric { unsigned id; ret_t ret; double value; struct info info; };
struct get { unsigned version, n; sample_t s1, s2; struct metric m[]; };
struct support { unsigned version, is; };

ret_t nvmlGpmQueryDeviceSupport(dev_t_ d, struct support *s) {
	CHECK(d); if (s->version != 1) return 25; s->is = (unsigned)env("STUB_GPM", 1); return 0;
}
ret_t nvmlGpmSampleAlloc(sample_t *s) { if (!s) return 2; *s = calloc(1, sizeof **s); return *s ? 0 : 20; }
ret_t nvmlGpmSampleFree(sample_t s) { if (!s) return 2; free(s); return 0; }
ret_t nvmlGpmSampleGet(dev_t_ d, sample_t s) {
	CHECK(d); long r = env("STUB_GPM_RET", 0); if (r) return (ret_t)r;
	if (!env("STUB_GPM", 1)) return 3;
	clock_gettime(CLOCK_MONOTONIC, &s->t); s->dev = d->index; s->gi = 0; s->filled = 1; return 0;
}
ret_t nvmlGpmMigSampleGet(dev_t_ d, unsigned gi, sample_t s) {
	if (gi > 14) return 2;
	ret_t r = nvmlGpmSampleGet(d, s); s->gi = (int)gi; return r;
}
ret_t nvmlGpmMetricsGet(struct get *g) {
	if (g->version != 1) return 25;
	if (!g->s1 || !g->s2 || !g->s1->filled || !g->s2->filled) return 2;
	double dt = (double)(g->s2->t.tv_sec - g->s1->t.tv_sec) + (double)(g->s2->t.tv_nsec - g->s1->t.tv_nsec) / 1e9;
	if (dt <= 0) return 2;
	for (unsigned i = 0; i < g->n; i++) {
		struct metric *m = &g->m[i];
		m->ret = 0; m->info.shortName = "stub"; m->info.longName = "stub metric"; m->info.unit = "%";
		switch (m->id) {
		case 1: m->value = 99.5; break;
		case 2: m->value = g->s2->gi == 1 ? 90 : g->s2->gi ? 10 : envd("STUB_SM", 88); break;
		case 3: m->value = 41.25; break;
		case 5: case 7: m->value = 17.5; break;
		case 10: m->value = envd("STUB_DRAM", 62.5); break;
		case 20: m->value = 117.25; m->info.unit = "MiB/s"; break;
		case 21: m->value = 332; m->info.unit = "MiB/s"; break;
		case 60: case 61: m->value = 50321.5; m->info.unit = "MiB/s"; break;
		default: m->ret = 3; m->value = 0;
		}
	}
	return 0;
}
ret_t nvmlGpmQueryIfStreamingEnabled(dev_t_ d, unsigned *s) { CHECK(d); *s = 0; return 0; }
ret_t nvmlGpmSetStreamingEnabled(dev_t_ d, unsigned s) { CHECK(d); (void)s; return 4; }
#endif
