/*
 * The smallest driver library: init, count, handle and utilisation in their first
 * versions only. No names, no memory, no error texts, no shutdown, no GPM.
 * Build: gcc -shared -fPIC -O1 -Wl,-soname,libnvidia-ml.so.1 -o libnvidia-ml.so.1 nvml_minimal.c
 */
struct dev { int index; };
static struct dev devs[2] = { { 0 }, { 1 } };
struct util { unsigned gpu, memory; };

int nvmlInit(void) { return 0; }
int nvmlDeviceGetCount(unsigned *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex(unsigned i, struct dev **d) { if (i > 1) return 2; *d = &devs[i]; return 0; }
int nvmlDeviceGetUtilizationRates(struct dev *d, struct util *u) { u->gpu = d->index ? 7 : 43; u->memory = 1; return 0; }
