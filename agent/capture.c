/* SPDX-License-Identifier: MIT */
/*
 * Starting and stopping CUPTI.  None of our locks is held while it is called
 * (it calls back under its own); of two threads that open or close the
 * window at once the second is turned away.
 */
#include "config.h"

#include "agent.h"

#include <dlfcn.h>
#include <stdio.h>

#define SETTLE_NS   UINT64_C(2000000000)
#define QUIET_NS    UINT64_C(5000000000)
#define TAKEN_NS    UINT64_C(30000000000)
#define DESTROY_NS  UINT64_C(100000000) /* wait when a context goes */
#define CBIDS_ASKED 2048u

static const struct {
	uint8_t group, kind;
} kinds[] = {
	{ PF_GROUP_KERNEL, PF_KIND_KERNEL },
	{ PF_GROUP_MEMCPY, PF_KIND_MEMCPY },
	{ PF_GROUP_MEMCPY, PF_KIND_MEMCPY2 },
	{ PF_GROUP_MEMSET, PF_KIND_MEMSET },
	{ PF_GROUP_SYNC, PF_KIND_SYNC },
	{ PF_GROUP_OVERHEAD, PF_KIND_OVERHEAD },
	{ PF_GROUP_INFO, PF_KIND_DEVICE },
	{ PF_GROUP_INFO, PF_KIND_CONTEXT },
	{ PF_GROUP_INFO, PF_KIND_STREAM },
	{ PF_GROUP_INFO, PF_KIND_JIT },
	{ PF_GROUP_INFO, PF_KIND_INTERNAL },
	{ PF_GROUP_EVENTS, PF_KIND_EVENT },
	{ PF_GROUP_MEMORY, PF_KIND_MEMORY2 },
	{ PF_GROUP_UVM, PF_KIND_UVM },
	{ PF_GROUP_ENV, PF_KIND_ENVIRONMENT },
	{ PF_GROUP_EXTERNAL, PF_KIND_EXTERNAL },
	{ PF_GROUP_RUNTIME, PF_KIND_RUNTIME },
	{ PF_GROUP_DRIVER, PF_KIND_DRIVER },
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* ---- what CUPTI calls ---- */

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct pf_agent *a = pf_agent_now();
	struct pf_inside in;
	bool entered = pf_enter(&in);

	*max_records = 0; /* as many as fit */
	*buffer = a ? pf_pool_take(&a->pool, size) : pf_pool_stray(size);
	if (entered)
		pf_leave(&in);
}

static void completed(void *context, uint32_t stream, uint8_t *buffer,
		      size_t size, size_t valid)
{
	struct pf_agent *a = pf_agent_now();
	struct pf_inside in;
	bool entered = pf_enter(&in);
	size_t dropped = 0;

	(void)context;
	(void)stream;
	if (a && buffer) {
		valid = valid < size ? valid : size;
		pf_encoder_buffer(&a->encoder, buffer, valid,
				  pf_pool_readable(&a->pool, buffer));
		pf_pool_give_back(&a->pool, buffer, valid);
		if (a->cupti.dropped && !a->cupti.dropped(NULL, 0, &dropped))
			PF_COUNT_ADD(a->counts.dropped_cupti, dropped);
	}
	if (entered)
		pf_leave(&in);
}

/* The program's profiler calls, and the ends of contexts. */
static void on_call(struct pf_agent *a, uint32_t domain, uint32_t cbid,
		    const struct pf_cupti_call *call)
{
	bool api = a->options->start == PF_START_API;

	if (domain == PF_DOMAIN_RESOURCE) {
		if (cbid == PF_RESOURCE_CONTEXT_DESTROY)
			pf_agent_flush(a, pf_now_ns() + DESTROY_NS);
		return;
	}
	if (domain == PF_DOMAIN_RUNTIME) {
		if (cbid == PF_CBID_DEVICE_RESET && call->site == PF_SITE_ENTER)
			pf_agent_flush(a, pf_now_ns() + DESTROY_NS);
		return;
	}
	if (cbid == PF_CBID_PROFILER_START && call->site == PF_SITE_EXIT) {
		if (api)
			pf_window_open(a);
	} else if (cbid == PF_CBID_PROFILER_STOP &&
		   call->site == PF_SITE_ENTER) {
		if (api)
			pf_window_close(a);
		pf_agent_flush(a, 0);
	} else if (atomic_load(&a->probing) && call->site == PF_SITE_ENTER &&
		   call->function && !strncmp(call->function, "cuLaunch", 8)) {
		atomic_fetch_add(&a->probe_calls, 1);
	}
}

static void called(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	struct pf_agent *a = pf_agent_now();
	struct pf_inside in;

	(void)user;
	if (!a || !data || !pf_enter(&in))
		return;
	on_call(a, domain, cbid, data);
	pf_leave(&in);
}

/* ---- the window ---- */

static void failed(struct pf_agent *a, const char *what, uint32_t kind,
		   uint32_t result)
{
	PF_COUNT_ADD(a->counts.errors, 1);
	pf_note("%s %u: %s", what, kind, pf_cupti_text(&a->cupti, result));
}

/* Calls that the filter would drop are not even collected, from 12.5 on. */
static void filter_calls(struct pf_agent *a, uint32_t domain)
{
	const struct pf_cupti *c = &a->cupti;
	const char *name;

	if (a->options->all_api || !c->callback_name ||
	    (domain == PF_DOMAIN_DRIVER ? !c->driver_api : !c->runtime_api))
		return;
	for (uint32_t cbid = 1; cbid < CBIDS_ASKED; cbid++) {
		name = NULL;
		if (c->callback_name(domain, cbid, &name) || !name ||
		    pf_cupti_call(domain, name) != PF_CALL_DROP)
			continue;
		if (domain == PF_DOMAIN_DRIVER)
			c->driver_api(cbid, 0);
		else
			c->runtime_api(cbid, 0);
	}
}

static void configure_uvm(struct pf_agent *a)
{
	struct pf_cupti_uvm counters[4];
	uint32_t result;

	for (uint32_t i = 0; i < 4; i++)
		counters[i] = (struct pf_cupti_uvm){ 1, i + 1, 0, 1 };
	if (!a->cupti.uvm)
		return;
	result = a->cupti.uvm(counters, 4);
	if (result)
		failed(a, "unified memory counters", PF_KIND_UVM, result);
}

static bool wanted(const struct pf_agent *a, size_t i)
{
	return a->options->groups >> kinds[i].group & 1;
}

/* Enable what is asked for.  The result of the first kind if none works. */
static uint32_t enable_all(struct pf_agent *a)
{
	const struct pf_cupti *c = &a->cupti;
	uint32_t first = 0, result;
	int good = 0, bad = 0;

	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (!wanted(a, i))
			continue;
		if (kinds[i].kind == PF_KIND_UVM)
			configure_uvm(a);
		result = c->enable(kinds[i].kind);
		if (result && !bad++)
			first = result;
		if (result && !good && bad == 2)
			return first;
		if (result)
			failed(a, "kind", kinds[i].kind, result);
		else
			good++;
		if (kinds[i].kind == PF_KIND_RUNTIME && !result)
			filter_calls(a, PF_DOMAIN_RUNTIME);
		if (kinds[i].kind == PF_KIND_DRIVER && !result)
			filter_calls(a, PF_DOMAIN_DRIVER);
	}
	if (a->options->whole_graphs) {
		result = c->enable(PF_KIND_GRAPH);
		if (result)
			failed(a, "kind", PF_KIND_GRAPH, result);
	}
	return good || !bad ? 0 : first;
}

static void disable_all(struct pf_agent *a)
{
	if (a->options->whole_graphs)
		a->cupti.disable(PF_KIND_GRAPH);
	for (size_t i = KIND_COUNT; i-- > 0;)
		if (wanted(a, i))
			a->cupti.disable(kinds[i].kind);
}

static bool turn(struct pf_agent *a, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&a->window, &from, to);
}

int pf_window_open(struct pf_agent *a)
{
	if (atomic_load(&a->closed) || !turn(a, PF_CLOSED, PF_OPENING))
		return -1;
	if (atomic_load(&a->capture) == PF_CAPTURING)
		enable_all(a);
	atomic_store(&a->opened_ns, pf_now_ns());
	atomic_store(&a->window, PF_OPEN);
	pf_wake_post(&a->ticker); /* its end may be due */
	return 0;
}

int pf_window_close(struct pf_agent *a)
{
	if (!turn(a, PF_OPEN, PF_CLOSING))
		return -1;
	if (atomic_load(&a->capture) == PF_CAPTURING)
		disable_all(a);
	atomic_store(&a->window, PF_CLOSED);
	return 0;
}

void pf_window_signal(struct pf_agent *a)
{
	atomic_fetch_add(&a->toggles, 1);
	pf_wake_post(&a->ticker);
}

void pf_capture_flush(struct pf_agent *a, bool all)
{
	uint32_t result;

	if (atomic_load(&a->capture) != PF_CAPTURING)
		return;
	result = a->cupti.flush_all(all);
	if (result)
		PF_COUNT_ADD(a->counts.errors, 1);
}

void pf_capture_settle(struct pf_agent *a)
{
	uint64_t until = pf_now_ns() + SETTLE_NS;
	uint32_t seen = atomic_load(&a->ticker.count);

	do {
		pf_capture_flush(a, false);
		if (!atomic_load(&a->pool.outstanding) ||
		    atomic_load(&a->capture) != PF_CAPTURING)
			break;
		seen = pf_wake_wait(&a->ticker, seen, pf_now_ns() + 50000000);
	} while (pf_now_ns() < until && atomic_load(&a->finish) == PF_RUNNING);
	atomic_fetch_add(&a->flush_asked, 1); /* write what came */
	pf_wake_post(&a->ticker);
}

/* ---- the start ---- */

static int not_available(struct pf_agent *a, const char *what, uint32_t result)
{
	int (*driver_version)(int *) = NULL;
	int driver = 0;

	*(void **)&driver_version = dlsym(RTLD_DEFAULT, "cuDriverGetVersion");
	if (driver_version)
		driver_version(&driver);
	snprintf(a->cupti.error, sizeof(a->cupti.error), "%s: %s (%u)%s", what,
		 pf_cupti_text(&a->cupti, result), result,
		 result == PF_CUPTI_OTHER_CLIENT
			 ? "; another profiling tool is there"
			 : "");
	if (driver && result == PF_CUPTI_NOT_INITIALIZED) {
		size_t at = strlen(a->cupti.error);
		snprintf(a->cupti.error + at, sizeof(a->cupti.error) - at,
			 "; CUPTI %u, driver for CUDA %d.%d", a->cupti.version,
			 driver / 1000, driver % 1000 / 10);
	}
	return -1;
}

static void set_attribute(struct pf_agent *a, uint32_t attribute, void *value,
			  size_t size)
{
	uint32_t result = 0;

	if (a->cupti.set_attribute)
		result = a->cupti.set_attribute(attribute, &size, value);
	if (result)
		failed(a, "attribute", attribute, result);
}

static void set_attributes(struct pf_agent *a)
{
	size_t bytes = a->options->device_buffer_bytes;
	size_t count = a->options->device_buffers;
	uint8_t zeroed = 1;

	if (bytes)
		set_attribute(a, PF_ATTR_DEVICE_BUFFER_SIZE, &bytes,
			      sizeof(bytes));
	if (count)
		set_attribute(a, PF_ATTR_DEVICE_BUFFER_POOL, &count,
			      sizeof(count));
	set_attribute(a, PF_ATTR_ZEROED_BUFFERS, &zeroed, sizeof(zeroed));
}

static void choose_clock(struct pf_agent *a)
{
	a->encoder.realtime = true;
	if (a->options->realtime || !a->cupti.register_clock)
		return;
	if (!a->cupti.register_clock(pf_now_ns))
		a->encoder.realtime = false;
	else
		PF_COUNT_ADD(a->counts.errors, 1);
}

static int subscribe(struct pf_agent *a)
{
	const struct pf_cupti *c = &a->cupti;
	char other[128] = "";
	struct pf_cupti_subscriber who = {
		.size = offsetof(struct pf_cupti_subscriber, unused),
		.name = "profan",
		.old_name = other,
		.old_size = sizeof(other),
	};
	uint32_t result;

	if (!a->options->subscribe || (!c->subscribe && !c->subscribe_v2))
		return 0;
	if (c->subscribe_v2)
		result = c->subscribe_v2(&a->subscriber, called, a, &who);
	else
		result = c->subscribe(&a->subscriber, called, a);
	if (result) {
		a->subscriber = NULL;
		not_available(a, "cuptiSubscribe", result);
		if (other[0]) {
			size_t at = strlen(a->cupti.error);
			snprintf(a->cupti.error + at,
				 sizeof(a->cupti.error) - at, ": %.64s", other);
		}
		return -1;
	}
	if (!c->enable_callback)
		return 0;
	c->enable_callback(1, a->subscriber, PF_DOMAIN_DRIVER,
			   PF_CBID_PROFILER_START);
	c->enable_callback(1, a->subscriber, PF_DOMAIN_DRIVER,
			   PF_CBID_PROFILER_STOP);
	c->enable_callback(1, a->subscriber, PF_DOMAIN_RESOURCE,
			   PF_RESOURCE_CONTEXT_DESTROY);
	c->enable_callback(1, a->subscriber, PF_DOMAIN_RUNTIME,
			   PF_CBID_DEVICE_RESET);
	return 0;
}

static void set_switches(struct pf_agent *a)
{
	const struct pf_cupti *c = &a->cupti;
	uint32_t groups = a->options->groups;

	if (c->all_sync)
		c->all_sync(0);
	if (groups >> PF_GROUP_EVENTS & 1 && c->event_times)
		c->event_times(1);
	if (groups >> PF_GROUP_LATENCY & 1 && c->latency)
		a->encoder.latency = !c->latency(1);
}

/* Everything up to the kinds; *enabled: the window's kinds are on. */
static int start(struct pf_agent *a, bool *enabled)
{
	struct pf_cupti *c = &a->cupti;
	uint32_t result;

	if (pf_cupti_load(c, a->options->cupti))
		return -1;
	set_attributes(a);
	if (c->set_thread_id_type) {
		result = c->set_thread_id_type(PF_THREAD_ID_SYSTEM);
		if (result)
			return not_available(a, "cuptiSetThreadIdType", result);
	}
	choose_clock(a);
	result = c->register_callbacks(requested, completed);
	if (result)
		return not_available(a, "cuptiActivityRegisterCallbacks",
				     result);
	if (subscribe(a))
		return -1;
	set_switches(a);
	if (a->options->start == PF_START_OFF) {
		/* instrument now, so that a late start does not stall */
		result = c->enable(PF_KIND_KERNEL);
		if (!result)
			c->disable(PF_KIND_KERNEL);
	} else if (atomic_load(&a->window) == PF_OPEN) {
		result = enable_all(a);
		*enabled = !result;
	}
	return result ? not_available(a, "cuptiActivityEnable", result) : 0;
}

void pf_capture_start(struct pf_agent *a)
{
	uint32_t none = PF_NO_CUPTI;
	bool enabled = false, open;
	int rc;

	if (!atomic_compare_exchange_strong(&a->capture, &none, PF_STARTING))
		return;
	rc = start(a, &enabled);
	pf_meta_cupti(&a->meta, a);
	if (rc && a->subscriber && a->cupti.unsubscribe)
		a->cupti.unsubscribe(a->subscriber); /* others may have it */
	if (rc)
		pf_note("CUPTI is not used: %s", a->cupti.error);
	else
		pf_note("CUPTI %u, '%s'", a->cupti.version, a->cupti.path);
	a->quiet_since_ns = pf_now_ns();
	atomic_store(&a->capture, rc ? PF_FAILED : PF_CAPTURING);
	open = atomic_load(&a->window) == PF_OPEN; /* turned meanwhile? */
	if (!rc && open && !enabled)
		enable_all(a);
	if (!rc && !open && enabled)
		disable_all(a);
	pf_wake_post(&a->ticker);
}

/* ---- other tools ---- */

static void probe(struct pf_agent *a, bool on)
{
	if (!a->subscriber || !a->cupti.enable_domain ||
	    !a->cupti.enable_callback)
		return;
	atomic_store(&a->probe_calls, 0);
	atomic_store(&a->probing, on);
	a->cupti.enable_domain(on, a->subscriber, PF_DOMAIN_DRIVER);
	if (on)
		return;
	a->cupti.enable_callback(1, a->subscriber, PF_DOMAIN_DRIVER,
				 PF_CBID_PROFILER_START);
	a->cupti.enable_callback(1, a->subscriber, PF_DOMAIN_DRIVER,
				 PF_CBID_PROFILER_STOP);
}

/*
 * After 5 s without a buffer being asked for or a record coming, have the
 * driver's calls reported: kernels were launched for 30 s, and still nothing
 * of them here, means that somebody else gets the records.
 */
void pf_capture_watch(struct pf_agent *a, uint64_t now_ns)
{
	uint64_t requests = PF_COUNT_READ(a->pool.requests);
	uint64_t records = PF_COUNT_READ(a->counts.records);

	if (atomic_load(&a->capture) != PF_CAPTURING ||
	    PF_COUNT_READ(a->counts.takeover))
		return;
	if (requests != a->quiet_requests || records != a->quiet_records ||
	    atomic_load(&a->window) != PF_OPEN ||
	    !(a->options->groups >> PF_GROUP_KERNEL & 1)) {
		a->quiet_requests = requests;
		a->quiet_records = records;
		a->quiet_since_ns = now_ns;
		if (atomic_load(&a->probing))
			probe(a, false);
		return;
	}
	if (now_ns - a->quiet_since_ns < QUIET_NS)
		return;
	if (!atomic_load(&a->probing)) {
		a->probe_since_ns = now_ns;
		probe(a, true);
	} else if (!atomic_load(&a->probe_calls)) {
		a->probe_since_ns = now_ns;
	} else if (now_ns - a->probe_since_ns >= TAKEN_NS) {
		PF_COUNT_ADD(a->counts.takeover, 1);
		pf_warn("another profiler has taken CUPTI's buffers over: no "
			"GPU activity is recorded from here on");
		probe(a, false);
	}
}
