/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/advise/advise.h"

#include <stdatomic.h>

#include "analysis/advise/impl.h"
#include "events/gpu.h"
#include "events/trust.h"
#include "show/escape.h"
#include "store/kept.h"
#include "store/threads.h"

/* What to do, in words of the reader's framework. */

#define TORCH "PyTorch"
#define JAX   "JAX"
#define TF    "TensorFlow"

/* Framework NULL: any.  Of a rule the first that fits counts. */
static const struct {
	const char *id, *framework, *variant, *remedy, *code;
} remedies[] = {
	{ "A1", TORCH, "no workers",
	  "the loader has no workers: give it processes of its "
	  "own, as many as there are CPU cores to spare",
	  "DataLoader(dataset, num_workers=4, persistent_workers=True,\n"
	  "           pin_memory=True)" },
	{ "A1", TORCH, "workers",
	  "the workers do not keep up: more of them, more batches ahead, or "
	  "cheaper transforms",
	  "DataLoader(dataset, num_workers=8, prefetch_factor=4,\n"
	  "           persistent_workers=True)" },
	{ "A1", TF, NULL,
	  "read and transform in parallel, and prepare batches ahead",
	  "ds = ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)\n"
	  "ds = ds.batch(n).prefetch(tf.data.AUTOTUNE)" },
	{ "A1", JAX, NULL,
	  "load the next batch in another thread, and put it on the device "
	  "while this one is computed",
	  "grain.MapDataset.source(data).to_iter_dataset(\n"
	  "    grain.ReadOptions(num_threads=16, prefetch_buffer_size=500))" },
	{ "A1", NULL, NULL,
	  "load the next batch in another thread or process while the device "
	  "works on this one",
	  NULL },
	{ "A2", NULL, "paged",
	  "the host reads it page by page: prefetch it to the host, or copy it "
	  "to a buffer of the host's",
	  "cudaMemPrefetchAsync(p, bytes, cudaCpuDeviceId, stream);" },
	{ "A2", TORCH, NULL,
	  "let the loader pin its batches, and copy without waiting",
	  "DataLoader(dataset, pin_memory=True)\n"
	  "batch = batch.to(device, non_blocking=True)" },
	{ "A2", JAX, NULL,
	  "put the next batch on the device before this step is waited for: "
	  "device_put does not wait",
	  "following = jax.device_put(next(batches))" },
	{ "A2", TF, NULL, "let the dataset copy batches ahead",
	  "ds = ds.apply(tf.data.experimental.prefetch_to_device('/gpu:0'))" },
	{ "A2", NULL, NULL,
	  "allocate host buffers with cudaMallocHost or hipHostMalloc, and "
	  "copy without waiting, on a stream of its own",
	  NULL },
	{ "A3", TORCH, "item",
	  "keep results on the GPU and read them every so many steps, not in "
	  "each; boolean indexing and nonzero() wait for a size: use where()",
	  "total += loss.detach()      # no .item() here\n"
	  "if step % 100 == 0:\n"
	  "    print(total.item())" },
	{ "A3", TORCH, "explicit",
	  "the script itself waits, as for timing: leave it out, or time with "
	  "events",
	  "start.record(); ...; end.record()\n"
	  "# later: start.elapsed_time(end)" },
	{ "A3", TORCH, "collective",
	  "the host waits for a collective, and so for the slowest rank: let "
	  "only the stream wait for it, and leave barriers out of steps",
	  "work = dist.all_reduce(t, async_op=True); ...; work.wait()\n"
	  "# no dist.barrier() or torch.cuda.synchronize() in steps" },
	{ "A3", TORCH, "copy",
	  "copy results back without waiting, and read them a step later",
	  "host = result.to('cpu', non_blocking=True)" },
	{ "A3", TORCH, "pageable",
	  "it waits for what comes before a copy from pageable memory: keep "
	  "the tensor on the GPU, or pin it and copy without waiting",
	  "x = x.pin_memory().to(device, non_blocking=True)" },
	{ "A3", NULL, "launches",
	  "each call that launches work waits until it is done, as where "
	  "somebody looks for an error",
	  "unset CUDA_LAUNCH_BLOCKING HIP_LAUNCH_BLOCKING "
	  "AMD_SERIALIZE_KERNEL" },
	{ "A3", NULL, "other launches",
	  "each call that launches work waits until it is done: let the device "
	  "take work ahead, if it can",
	  NULL },
	{ "A3", TORCH, "anywhere",
	  "read results less often, and wait for an event instead of the "
	  "device",
	  NULL },
	{ "A3", TORCH, NULL,
	  "this operator waits by itself: call it less often, or choose one "
	  "that does not",
	  NULL },
	{ "A3", JAX, NULL,
	  "keep results on the device: float(), np.asarray() and "
	  "block_until_ready() wait for all before them",
	  "if step % 100 == 0:\n"
	  "    print(float(loss))" },
	{ "A3", TF, NULL,
	  "keep results as tensors: numpy() and print() of one wait for it",
	  "if step % 100 == 0:\n"
	  "    print(loss.numpy())" },
	{ "A3", NULL, NULL,
	  "wait later, and for an event instead of the device", NULL },
	{ "A4", TORCH, "vllm/",
	  "let the server replay its steps as CUDA graphs, as it does unless "
	  "it is told not to, and capture the batch sizes that it serves",
	  "vllm serve MODEL    # without --enforce-eager\n"
	  "LLM(model, enforce_eager=False)" },
	{ "A4", TORCH, "sglang/",
	  "let the server replay its steps as CUDA graphs, as it does unless "
	  "it is told not to, and capture the batch sizes that it serves",
	  "python -m sglang.launch_server --cuda-graph-max-bs N\n"
	  "# without --disable-cuda-graph" },
	{ "A4", TORCH, "compiled",
	  "parts are compiled already: let CUDA graphs launch them, too",
	  "torch.compile(model, mode='reduce-overhead')" },
	{ "A4", TORCH, "compiled graphs",
	  "parts are compiled and replayed as graphs already: compile what "
	  "launches the rest, too, or give each step more samples",
	  NULL },
	{ "A4", TORCH, "graph breaks",
	  "parts are compiled already: look for graph breaks, and let CUDA "
	  "graphs launch what is left",
	  "TORCH_LOGS=graph_breaks python train.py\n"
	  "torch.compile(model, mode='reduce-overhead', fullgraph=True)" },
	{ "A4", TORCH, "no graphs", "compile the model, which fuses kernels",
	  "model = torch.compile(model)" },
	{ "A4", TORCH, NULL,
	  "compile the model, which fuses kernels, and replay the step as a "
	  "CUDA graph where its shapes do not change",
	  "model = torch.compile(model, mode='reduce-overhead')" },
	{ "A4", JAX, NULL,
	  "compile the whole step as one function, and let loops run in it",
	  "step = jax.jit(step, donate_argnums=0)\n"
	  "state, losses = jax.lax.scan(step, state, batches)" },
	{ "A4", TF, NULL, "compile the whole step, which fuses kernels",
	  "@tf.function(jit_compile=True)\ndef step(batch): ..." },
	{ "A4", NULL, NULL,
	  "fuse small kernels, and launch those that repeat as one CUDA or "
	  "HIP graph",
	  NULL },
	{ "A5", TORCH, NULL,
	  "find what changes from call to call (shapes, Python values) and "
	  "makes it compile again",
	  "TORCH_LOGS=recompiles python train.py\n"
	  "torch.compile(model, dynamic=True)" },
	{ "A5", JAX, NULL,
	  "keep shapes and static arguments the same, or keep what was "
	  "compiled",
	  "jax.config.update('jax_explain_cache_misses', True)\n"
	  "jax.config.update('jax_compilation_cache_dir', folder)" },
	{ "A5", TF, NULL, "pass tensors of one signature, not Python values",
	  "@tf.function(reduce_retracing=True)\ndef step(batch): ..." },
	{ "A5", NULL, NULL, "keep shapes the same, so that it compiles once",
	  NULL },
	{ "A6", TORCH, "tf32",
	  "let products round to TF32, or run them in bfloat16 where the model "
	  "allows it",
	  "torch.set_float32_matmul_precision('high')\n"
	  "with torch.autocast('cuda', dtype=torch.bfloat16): ..." },
	{ "A6", TORCH, "bf16",
	  "run products in bfloat16 where the model allows it",
	  "with torch.autocast('cuda', dtype=torch.bfloat16): ..." },
	{ "A6", TORCH, "fp16",
	  "run products in half precision where the model allows it, and scale "
	  "the loss; this GPU has neither TF32 nor bfloat16",
	  "with torch.autocast('cuda', dtype=torch.float16): ...\n"
	  "scaler = torch.amp.GradScaler()" },
	{ "A6", JAX, NULL, "let products round, or compute in bfloat16",
	  "jax.config.update('jax_default_matmul_precision', 'tensorfloat32')\n"
	  "x.astype(jnp.bfloat16)" },
	{ "A6", TF, NULL, "compute in mixed precision",
	  "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')" },
	{ "A6", NULL, NULL, "multiply in reduced precision", NULL },
	{ "A7", TORCH, NULL,
	  "call the fused kernel instead of product, softmax and product",
	  "out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)" },
	{ "A8", TORCH, "other",
	  "torch has no fused kernel for this optimizer: compile its step",
	  "step = torch.compile(optimizer.step)" },
	{ "A8", TORCH, "foreach",
	  "one kernel for all parameters instead of one an operation",
	  "torch.optim.AdamW(params, fused=True)   # or SGD, Adam, Adagrad" },
	{ "A8", TORCH, NULL,
	  "update all parameters together instead of one after the other",
	  "torch.optim.SGD(params, lr, fused=True) # or AdamW; or "
	  "foreach=True" },
	{ "A9", TORCH, NULL, "keep images with channels last",
	  "model = model.to(memory_format=torch.channels_last)\n"
	  "x = x.to(memory_format=torch.channels_last)" },
	{ "A9", NULL, NULL, "keep tensors in the layout of the convolutions",
	  NULL },
	{ "A23", NULL, NULL,
	  "pad vocabularies, features and lengths of sequences to multiples of "
	  "8, better of 64: tensor cores then load 16 bytes at a time",
	  "size = (size + 63) // 64 * 64" },
	{ "A24", TORCH, NULL,
	  "checkpoint no more blocks than the memory needs, or keep what takes "
	  "long to compute",
	  "x = checkpoint(block, x, use_reentrant=False) if i % 2 else "
	  "block(x)\n"
	  "create_selective_checkpoint_contexts([torch.ops.aten.mm.default])" },
	{ "A10", TORCH, "compiled graphs",
	  "compiled graphs copy what they are given and what they return: "
	  "compile larger parts, or keep inputs where they are",
	  "torch._dynamo.mark_static_address(x)" },
	{ "A10", TORCH, NULL,
	  "make tensors in the type, on the device and in the layout in which "
	  "they are used; avoid contiguous() and clone() on the way",
	  "torch.ones(n, device=x.device, dtype=x.dtype)" },
	{ "A11", TORCH, "room",
	  "give each step more samples: the GPU and its memory have room",
	  "DataLoader(dataset, batch_size=2 * batch_size)" },
	{ "A11", TORCH, NULL,
	  "do in one call what is alike, on stacked tensors, or run what is "
	  "independent on other streams",
	  "torch.linalg.qr(torch.stack(matrices)); torch.func.vmap(f)(batch)\n"
	  "with torch.cuda.stream(other): ..." },
	{ "A11", JAX, NULL, "do in one call what is alike, on stacked arrays",
	  "jax.vmap(f)(jnp.stack(arrays))" },
	{ "A11", NULL, NULL,
	  "do in one call what is alike, or run what is independent on other "
	  "streams",
	  NULL },
	{ "A12", TORCH, "driver",
	  "let torch keep the memory that it frees: its caching allocator is "
	  "off, or gives all back",
	  "unset PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_NO_HIP_MEMORY_CACHING\n"
	  "# and no torch.cuda.empty_cache() in steps" },
	{ "A12", NULL, "once",
	  "profile several steps behind a warm-up: a pool asks the driver "
	  "while it grows",
	  NULL },
	{ "A12", TORCH, NULL,
	  "let segments grow instead of allocating new ones, drop what is not "
	  "needed, or compute activations again",
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
	  "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)" },
	{ "A13", NULL, "late",
	  "one rank is late, and the others wait: find what it does meanwhile",
	  NULL },
	{ "A13", TORCH, "small",
	  "many small messages: put gradients into larger buckets",
	  "DistributedDataParallel(model, bucket_cap_mb=100)" },
	{ "A13", TORCH, NULL,
	  "start communication earlier and let it run beside computation",
	  "DistributedDataParallel(model, gradient_as_bucket_view=True)\n"
	  "work = dist.all_reduce(t, async_op=True); ...; work.wait()" },
	{ "A13", JAX, NULL,
	  "let the compiler run collectives beside computation",
	  "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true" },
	{ "A13", NULL, NULL,
	  "start communication earlier, and let other work run beside it",
	  NULL },
	{ "A14", NULL, NULL,
	  "freeze what lives on, and collect by hand between steps",
	  "gc.freeze(); gc.disable()\n"
	  "if step % 1000 == 0: gc.collect()" },
	{ "A15", TORCH, NULL, "drop gradients instead of filling them with 0",
	  "optimizer.zero_grad(set_to_none=True)" },
	{ "A16", TORCH, "steps", "tell the profiler where a step ends",
	  "prof.step()   # at the end of each step" },
	{ "A16", TORCH, "stacks", "record functions",
	  "profile(with_stack=True, ...)" },
	{ "A16", NULL, "steps", "name the ranges that are steps",
	  "--steps REGEX" },
	{ "A17", TORCH, NULL,
	  "sort once, and sum by segments; sparse=True for an embedding of "
	  "which few rows are used",
	  "nn.Embedding(n, d, sparse=True)" },
	{ "A18", NULL, NULL, "do it every so many steps, or in another thread",
	  "if step % 100 == 0: log(...)" },
	{ "A19", TORCH, NULL, "compile the function that holds them",
	  "@torch.compile\ndef activation(x): ..." },
	{ "A19", NULL, NULL, "write them as one kernel", NULL },
	{ "A21", TORCH, "compiled",
	  "parts are compiled already: compile what is not, do it for more "
	  "samples at once, or give it more threads",
	  "torch.set_num_threads(n)" },
	{ "A21", TORCH, "no GPU",
	  "compile the function that holds it, do it for more samples at "
	  "once, or give it more threads",
	  "model = torch.compile(model)\n"
	  "torch.set_num_threads(n)" },
	{ "A21", NULL, "once",
	  "one call is most of it: run it before the profile begins, which "
	  "shows "
	  "whether it is a first use; else let the device do it",
	  NULL },
	{ "A21", NULL, NULL,
	  "do less of it, do it in another thread or process while the device "
	  "works, or let the device do it",
	  NULL },
	{ "A22", TORCH, NULL,
	  "run the same work a few times before the profiler records",
	  "schedule=torch.profiler.schedule(wait=1, warmup=2, active=5)" },
	{ "A22", NULL, NULL,
	  "run the same work a few times before the profiler records", NULL },
	{ "A20", TORCH, NULL,
	  "decode for many requests at once, so that reading the weights once "
	  "serves all of them, and replay the step as a CUDA graph",
	  "decode = torch.compile(decode, mode='reduce-overhead')" },
};

/* In place of the rule's. */
static const struct {
	const char *id, *framework, *variant, *title;
} titles[] = {
	{ "A2", NULL, "paged", "copy managed memory back at once" },
	{ "A3", TORCH, "explicit", "fewer waits of the script" },
	{ "A3", NULL, "launches", "launches that do not wait" },
	{ "A3", NULL, "other launches", "launches that do not wait" },
	{ "A3", TORCH, "collective",
	  "let the stream wait for collectives, not the host" },
	{ "A4", TORCH, "no graphs", "fewer, larger kernels: torch.compile" },
	{ "A12", TORCH, "driver", "keep memory instead of asking the driver" },
	{ "A21", NULL, "no GPU",
	  "less, or faster, operators and Python on the CPU" },
	{ "A21", NULL, "compiled",
	  "less, or faster, operators and Python on the CPU" },
};

/* Is a row of these tables about it?  What it does not name may be any. */
#define IS_ABOUT(row, a, its_framework, its_variant)                           \
	(!strcmp((row).id, (a)->id) &&                                         \
	 (!(row).framework ||                                                  \
	  ((its_framework) && !strcmp((row).framework, its_framework))) &&     \
	 (!(row).variant || !strcmp((row).variant, its_variant)))

void advise_remedy(struct pf_advice *a, const char *framework,
		   const char *variant)
{
	for (size_t i = 0; i < PF_LEN(titles); i++)
		if (IS_ABOUT(titles[i], a, framework, variant))
			a->title = titles[i].title;
	for (size_t i = 0; i < PF_LEN(remedies); i++) {
		if (!IS_ABOUT(remedies[i], a, framework, variant))
			continue;
		a->remedy = remedies[i].remedy;
		a->code = remedies[i].code;
		return;
	}
}

/* The analyses that advice rests on, beside the path. */

#define KEPT_BYTES (32u << 20) /* of blocks that several read */

struct beside {
	const struct pf_window_args *window;
	struct pf_kernels callers;
	struct pf_launches launches;
	struct pf_overlap overlap;
	struct pf_step_times steps;
	struct pf_usage memory;
	struct pf_info info;
	struct pf_roofline roofline;
	struct pf_gaps gaps;   /* where there is no path */
	struct pf_syncs syncs; /* and of several traces */
};

static int find_callers(struct pf_db *db, struct beside *b)
{
	const struct pf_kernels_args args = {
		.window = *b->window,
		.group = PF_KERNELS_BY_NAME_OP,
		.no_ranks = true,
	};

	return pf_kernels_find(db, &args, &b->callers);
}

static int find_launches(struct pf_db *db, struct beside *b)
{
	const struct pf_launches_args args = { .window = *b->window,
					       .only_counts = true };

	return pf_launches_find(db, &args, 0, &b->launches);
}

static int find_overlap(struct pf_db *db, struct beside *b)
{
	const struct pf_overlap_args args = { .window = *b->window };

	return pf_overlap_find(db, &args, &b->overlap);
}

static int find_steps(struct pf_db *db, struct beside *b, bool only_times)
{
	const struct pf_steps_args args = { .window = *b->window,
					    .only_times = only_times };

	return pf_step_times_find(db, &args, &b->steps);
}

static int find_step_times(struct pf_db *db, struct beside *b)
{
	return find_steps(db, b, true);
}

static int find_memory(struct pf_db *db, struct beside *b)
{
	const struct pf_usage_args args = { .window = *b->window,
					    .no_sites = true };

	return pf_usage_find(db, &args, NULL, &b->memory);
}

static int find_info(struct pf_db *db, struct beside *b)
{
	struct pf_doc doc = { 0 };
	int rc = pf_info(db, &b->info, &doc);

	pf_doc_release(&doc);
	return rc;
}

static int find_roofs(struct pf_db *db, struct beside *b)
{
	const struct pf_roofline_args args = { .window = *b->window,
					       .group = PF_ROOFLINE_BY_OP };
	bool has_shapes;

	PF_TRY(pf_trust_has_shapes(db, &has_shapes) < 0);
	return has_shapes ? pf_roofline_find(db, &args, &b->roofline) : 0;
}

static int find_gaps_for(struct pf_db *db, struct pf_gap_sink *also, void *p)
{
	struct beside *b = p;
	const struct pf_gaps_args args = { .window = *b->window,
					   .micro_ns = PF_GAPS_MICRO_NS,
					   .also = also };

	return pf_gaps_find(db, &args, &b->gaps);
}

static int find_gaps(struct pf_db *db, struct beside *b)
{
	return find_gaps_for(db, NULL, b);
}

/* And gaps, of which it needs some. */
static int find_syncs(struct pf_db *db, struct beside *b)
{
	const struct pf_gap_source gaps = { find_gaps_for, b };
	const struct pf_syncs_args args = { .window = *b->window,
					    .max_per_step = -1,
					    .fail_on = -1,
					    .gaps = &gaps };
	struct pf_doc doc = { 0 };
	bool is_failed;
	int rc = pf_syncs(db, &args, &b->syncs, &doc, &is_failed);

	pf_doc_release(&doc);
	return rc;
}

/* By the time they take: the last are short ones. */
static int (*const finders[])(struct pf_db *db, struct beside *b) = {
	find_callers, find_launches, find_roofs,      find_memory,
	find_info,    find_overlap,  find_step_times,
};
#define FINDERS (sizeof(finders) / sizeof(*finders))

/* One thread begins with the path; what is left is for who has time. */
struct gathering {
	struct pf_db *db, other;
	const struct pf_advise_args *args;
	struct pf_advise *out;
	struct beside *beside;
	bool has_many; /* traces, and so no path */
	atomic_size_t next;
	int rc[1 + FINDERS]; /* the path's first */
	struct pf_err err[1 + FINDERS];
};

static void find_on(struct gathering *g, struct pf_db *db)
{
	size_t n;

	while ((n = atomic_fetch_add(&g->next, 1)) < FINDERS) {
		db->err = &g->err[1 + n];
		g->rc[1 + n] = finders[n](db, g->beside);
	}
}

static void find_path(void *p)
{
	struct gathering *g = p;

	g->db->err = &g->err[0];
	g->rc[0] = g->has_many ? find_syncs(g->db, g->beside)
			       : pf_advise_read(g->db, g->args, g->out);
	/* all has its end, and yet of nothing that is known why */
	if (!g->rc[0] && !g->has_many && !g->out->tiles->path->category_count)
		g->rc[0] = find_gaps(g->db, g->beside);
	if (!g->rc[0])
		find_on(g, g->db);
}

static void find_beside(void *p)
{
	struct gathering *g = p;

	find_on(g, &g->other);
}

static void release(struct beside *b)
{
	pf_kernels_release(&b->callers);
	pf_launches_release(&b->launches);
	pf_overlap_release(&b->overlap);
	pf_step_times_release(&b->steps);
	pf_usage_release(&b->memory);
	pf_info_release(&b->info);
	pf_roofline_release(&b->roofline);
	pf_gaps_release(&b->gaps);
	pf_syncs_release(&b->syncs);
}

static int gather(struct pf_db *db, const struct pf_advise_args *args,
		  bool has_many, struct beside *b, struct pf_advise *a)
{
	struct gathering *g = pf_calloc(1, sizeof(*g));
	struct pf_err *given = db->err;
	int rc;

	g->db = db;
	g->args = args;
	g->out = a;
	g->beside = b;
	g->has_many = has_many;
	pf_kept_start(db, KEPT_BYTES);
	/* most read these rows: they come before blocks take the room */
	rc = pf_gpu_links_keep(db);
	if (!rc)
		rc = pf_db_open_beside(&g->other, db, db->err);
	if (!rc)
		pf_threads_both(find_path, g, find_beside, g);
	db->err = given;
	for (size_t i = 0; !rc && i < 1 + FINDERS; i++) {
		rc = g->rc[i];
		if (rc)
			*db->err = g->err[i];
	}
	pf_db_close(&g->other);
	free(g);
	return rc;
}

/* A path is of one trace. */
static int count_traces(struct pf_db *db, const struct pf_window_args *args,
			size_t *count)
{
	struct pf_window window = { 0 };
	int rc = pf_window_resolve(db, args, &window);

	*count = window.count;
	pf_window_release(&window);
	return rc;
}

/* What was found is kept in "b", which the result rests on. */
static int find(struct pf_db *db, const struct pf_advise_args *args,
		struct beside *b, struct pf_advise *out)
{
	const struct pf_advise_from from = {
		&b->callers, &b->launches, &b->overlap, &b->steps, &b->memory,
		&b->info,    &b->roofline, &b->gaps,    &b->syncs
	};
	size_t count;
	int rc = count_traces(db, &args->window, &count);

	b->window = &args->window;
	if (!rc)
		rc = gather(db, args, count > 1, b, out);
	/* without a path, and without GPU work, classes of steps are all */
	if (!rc && ((b->gaps.window.count && !b->gaps.all.event_count) ||
		    pf_step_times_warm_up(&b->steps).most)) {
		pf_step_times_release(&b->steps);
		rc = find_steps(db, b, false);
	}
	if (!rc)
		pf_advise_judge(out, args, &from);
	return rc;
}

int pf_advise_find(struct pf_db *db, const struct pf_advise_args *args,
		   struct pf_advise *out)
{
	struct beside *b = pf_calloc(1, sizeof(*b));
	int rc = find(db, args, b, out);

	release(b);
	free(b);
	return rc;
}

static void advise_show(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_doc *doc);

int pf_advise(struct pf_db *db, const struct pf_advise_args *args,
	      struct pf_doc *doc)
{
	struct beside *b = pf_calloc(1, sizeof(*b));
	struct pf_advise a = { 0 };
	int rc = find(db, args, b, &a);

	if (!rc) {
		advise_show(&a, args, doc);
		rc = pf_trust_note(db, a.window, PF_TRUST_WORK | PF_TRUST_LINKS,
				   doc);
	}
	pf_advise_release(&a);
	release(b);
	free(b);
	return rc;
}

/* ---- advise show ---- */

struct advice_row {
	const char *id, *kind, *title, *confidence, *framework;
	const char *sentence, *remedy, *code, *command;
	int64_t at_most_ns, likely_ns, on_path_ns;
	double share;
};

#define ADVICE(member, key, title, kind)                                       \
	PF_FIELD(struct advice_row, member, key, title, kind)
static const struct pf_field advice_fields[] = {
	ADVICE(id, "id", "Advice", PF_TEXT | PF_OURS),
	ADVICE(at_most_ns, "at_most_ns", "At most", PF_NS | PF_MAYBE),
	ADVICE(share, "share", "Of all", PF_RATIO),
	ADVICE(likely_ns, "likely_ns", "At least", PF_NS | PF_MAYBE | PF_FULL),
	ADVICE(on_path_ns, "on_path_ns", "On the path",
	       PF_NS | PF_MAYBE | PF_FULL),
	ADVICE(confidence, "confidence", "How sure", PF_TEXT | PF_OURS),
	ADVICE(kind, "kind", "Cause", PF_TEXT | PF_OURS | PF_FULL),
	ADVICE(title, "title", "What to change", PF_TEXT | PF_OURS | PF_WHOLE),
	ADVICE(sentence, "sentence", "Why", PF_TEXT | PF_FULL),
	ADVICE(framework, "framework", "Framework",
	       PF_TEXT | PF_OURS | PF_FULL),
	ADVICE(remedy, "remedy", "How", PF_TEXT | PF_OURS | PF_FULL),
	ADVICE(code, "code", "Code", PF_TEXT | PF_OURS | PF_FULL),
	ADVICE(command, "command", "Shown by", PF_TEXT | PF_FULL),
};

struct evidence_row {
	const char *id, *what, *name, *at;
	int64_t ns, count, longest_ns, from_ns, to_ns;
};

#define EVIDENCE(member, key, title, kind)                                     \
	PF_FIELD(struct evidence_row, member, key, title, kind)
static const struct pf_field evidence_fields[] = {
	EVIDENCE(id, "id", "Advice", PF_TEXT | PF_OURS),
	EVIDENCE(ns, "ns", "Holds", PF_NS),
	EVIDENCE(count, "count", "Times", PF_COUNT),
	EVIDENCE(what, "what", "Of it", PF_TEXT | PF_OURS | PF_FULL),
	EVIDENCE(name, "name", "Name", PF_TEXT),
	EVIDENCE(at, "at", "Line or operator", PF_PATH),
	EVIDENCE(longest_ns, "longest_ns", "Longest", PF_NS | PF_FULL),
	EVIDENCE(from_ns, "from_ns", "From", PF_NS | PF_MAYBE | PF_FULL),
	EVIDENCE(to_ns, "to_ns", "To", PF_NS | PF_MAYBE | PF_FULL),
};

struct how_row {
	const char *id, *text;
};

static const struct pf_field how_fields[] = {
	PF_FIELD(struct how_row, id, "id", "Advice", PF_TEXT | PF_OURS),
	PF_FIELD(struct how_row, text, "text", "Why and how",
		 PF_TEXT | PF_WHOLE),
};

struct rest_row {
	const char *id, *title, *reason;
	double measured, threshold;
};

#define REST(member, key, title, kind)                                         \
	PF_FIELD(struct rest_row, member, key, title, kind)
static const struct pf_field open_fields[] = {
	REST(id, "id", "Advice", PF_TEXT | PF_OURS),
	REST(title, "title", "What to change", PF_TEXT | PF_OURS),
	REST(reason, "reason", "Why not", PF_TEXT | PF_OURS | PF_WHOLE),
};

static const struct pf_field fine_fields[] = {
	REST(id, "id", "Advice", PF_TEXT | PF_OURS),
	REST(title, "title", "What to change", PF_TEXT | PF_OURS),
	REST(measured, "measured", "Measured", PF_RATIO | PF_FULL),
	REST(threshold, "threshold", "Threshold", PF_RATIO | PF_FULL),
	REST(reason, "reason", "Why not", PF_TEXT | PF_OURS | PF_WHOLE),
};

static const char *text_of(const struct pf_buf *b)
{
	return b->data ? b->data : "";
}

/* Is the first advice worth a first line? */
static bool has_first(const struct pf_advise *a)
{
	const struct pf_advice *best = &a->all[0];

	return a->given && best->measured >= PF_ADVISE_FIRST &&
	       (best->at_most_ns != PF_NO_INT || best->on_path_ns > 0);
}

/* Was no cause of lost time looked for? */
static bool is_blank(const struct pf_advise *a)
{
	size_t i = a->given;

	while (i < a->count && a->all[i].state == PF_ADVICE_NOT_JUDGED)
		i++;
	return a->given < a->count &&
	       (i == a->count ||
		(!a->has_path && !a->has_work && a->window->count < 2));
}

/* What holds more than the first advice; then that, or that there is none. */
static void add_finding(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_doc *doc)
{
	const struct pf_advice *best = &a->all[0];
	struct pf_buf out = { 0 }, text = { 0 };
	char least[PF_NUM_MAX];

	/* without a path, what is behind it says nothing of causes */
	if ((a->has_path || !has_first(a)) &&
	    pf_advise_say_rest(a, args, &out)) {
		pf_say_plain(&text, &out);
		pf_buf_adds(&text, ". ");
		pf_buf_clear(&out);
	}
	if (has_first(a)) {
		pf_buf_add(&out, best->sentence.data, best->sentence.len);
		if (best->at_most_ns != PF_NO_INT && !best->is_said)
			pf_buf_adds(&out, ". ");
		pf_advice_say_gain(best, &out);
	} else if (is_blank(a)) {
		pf_buf_addf(&out, "Nothing can be judged: %s",
			    a->all[a->count - 1].sentence.data);
	} else {
		pf_buf_addf(&out,
			    "Nothing that could be judged would save %s or "
			    "more",
			    pf_num_show_ratio(least, PF_ADVISE_FIRST));
	}
	pf_say_plain(&text, &out);
	if (!a->has_path && a->window->count > 1 && !is_blank(a))
		pf_buf_adds(&text, ". The critical path of each trace alone "
				   "may name another cause: --rank N");
	pf_doc_finding(doc, "%s", text.data);
	pf_buf_release(&out);
	pf_buf_release(&text);
}

/* All of it as text: what holds how much and where, and what is beside. */
static void say_why(const struct pf_advice *v, struct pf_buf *out)
{
	pf_say_plain(out, &v->sentence);
	if (v->detail.len)
		pf_buf_addf(out, ". %s", v->detail.data);
}

static void add_advice(const struct pf_advise *a, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "advice", "What to try",
					   PF_FIELDS(advice_fields));

	for (size_t i = 0; i < a->given; i++) {
		const struct pf_advice *v = &a->all[i];
		bool is_known = v->at_most_ns != PF_NO_INT;
		struct pf_buf why = { 0 };
		struct advice_row row = {
			.id = v->id,
			.kind = v->kind,
			.title = v->title,
			.confidence = v->confidence,
			.framework = a->framework,
			.remedy = v->remedy,
			.code = v->code,
			.command = text_of(&v->command),
			.at_most_ns = v->at_most_ns,
			.likely_ns = v->likely_ns,
			.on_path_ns = is_known || v->on_path_ns ? v->on_path_ns
								: PF_NO_INT,
			.share = is_known || v->on_path_ns ? v->measured : NAN,
		};

		say_why(v, &why);
		row.sentence = why.data;
		PF_PUT(t, advice_fields, row);
		pf_buf_release(&why);
	}
}

static void add_evidence(const struct pf_advise *a, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "evidence", "Where it is",
					   PF_FIELDS(evidence_fields));

	for (size_t i = 0; i < a->given; i++) {
		const struct pf_advice *v = &a->all[i];

		for (size_t k = 0; k < v->place_count; k++) {
			const struct pf_advice_place *p = &v->places[k];
			struct evidence_row row = {
				v->id,
				p->what,
				p->name,
				p->at && p->name && !strcmp(p->at, p->name)
					? NULL
					: p->at,
				p->ns,
				p->count,
				p->longest_ns,
				p->from_ns,
				p->from_ns == PF_NO_INT
					? PF_NO_INT
					: p->from_ns + p->longest_ns
			};

			PF_PUT(t, evidence_fields, row);
		}
	}
}

static void add_line(struct pf_table *t, const char *id, const char *before,
		     const char *text, size_t len, const char *after)
{
	struct pf_buf line = { 0 };
	struct how_row row = { .id = id };

	if (!len)
		return;
	pf_buf_adds(&line, before);
	pf_buf_add(&line, text, len);
	pf_buf_adds(&line, after);
	row.text = line.data;
	PF_PUT(t, how_fields, row);
	pf_buf_release(&line);
}

/* For people: the sentences, and code line by line. */
static void add_how(const struct pf_advise *a, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "how", "Why and how", PF_FIELDS(how_fields));

	for (size_t i = 0; i < a->given; i++) {
		const struct pf_advice *v = &a->all[i];
		const char *line = v->code, *end;
		struct pf_buf why = { 0 }, gain = { 0 };

		say_why(v, &why);
		pf_advice_say_gain(v, &gain);
		add_line(t, v->id, "", why.data, why.len, ".");
		add_line(t, v->id, "", gain.data, gain.len, ".");
		pf_buf_release(&why);
		pf_buf_release(&gain);
		if (v->remedy)
			add_line(t, v->id, "-> ", v->remedy, strlen(v->remedy),
				 v->code ? ":" : "");
		for (; line; line = *end ? end + 1 : NULL) {
			end = line + strcspn(line, "\n");
			add_line(t, v->id, "   ", line, (size_t)(end - line),
				 "");
		}
		add_line(t, v->id, "see: ", text_of(&v->command),
			 v->command.len, "");
	}
}

static void add_rest(const struct pf_advise *a, enum pf_advice_state state,
		     struct pf_table *t, const struct pf_field *fields,
		     size_t count)
{
	for (size_t i = a->given; i < a->count; i++) {
		const struct pf_advice *v = &a->all[i];
		struct rest_row row = { v->id, v->title, text_of(&v->sentence),
					v->measured, v->threshold };

		if (v->state == state)
			pf_table_put(t, fields, count, &row, sizeof(row));
	}
}

/* Without a path, and of no advice, there is no time to speak of. */
static void add_times(const struct pf_advise *a, size_t first,
		      struct pf_doc *doc)
{
	char title[32] = "The first holds"; /* of five at most */

	if (a->window_ns)
		pf_doc_int(doc, "window_ns", "Window", PF_NS, a->window_ns);
	else
		pf_doc_null(doc, "window_ns", "Window", PF_NS);
	if (first > 1)
		snprintf(title, sizeof(title), "The first %zu hold together",
			 first);
	if (pf_advise_union(a, first))
		pf_doc_int(doc, "together_ns", title, PF_NS,
			   pf_advise_union(a, first));
	else
		pf_doc_null(doc, "together_ns", title, PF_NS);
}

static void advise_show(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_doc *doc)
{
	char all[PF_NUM_MAX], window[PF_NUM_MAX];
	size_t first = a->given < 5 ? a->given : 5;
	struct pf_table *t;

	add_finding(a, args, doc);
	add_times(a, first, doc);
	add_advice(a, doc);
	add_how(a, doc);
	add_evidence(a, doc);
	t = pf_doc_fields(doc, "not_judged", "Not judged",
			  PF_FIELDS(open_fields));
	add_rest(a, PF_ADVICE_NOT_JUDGED, t, PF_FIELDS(open_fields));
	t = pf_doc_fields(doc, "fine", "Nothing to do", PF_FIELDS(fine_fields));
	add_rest(a, PF_ADVICE_FINE, t, PF_FIELDS(fine_fields));
	if (first > 1 && a->has_path)
		pf_doc_note(doc,
			    "advice may be about the same time: the first %zu "
			    "hold %s of the %s of the critical path together",
			    first,
			    pf_num_show_ns(all, pf_advise_union(a, first)),
			    pf_num_show_ns(window, a->window_ns));
	if (!a->has_path)
		pf_doc_note(doc,
			    "without a critical path, which is of one trace, "
			    "causes are judged by what GPUs wait for: how much "
			    "of that would be saved is not known");
	else if (a->given)
		pf_doc_note(doc,
			    "at most is what the change takes off the critical "
			    "path (sure), or what the path worked out anew "
			    "saves (model), where all else takes as long as "
			    "it did");
}
