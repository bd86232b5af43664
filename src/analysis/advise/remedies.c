/* SPDX-License-Identifier: MIT */
/* What to do, in words of the reader's framework. */
#include "analysis/advise/advise_impl.h"

#define TORCH "PyTorch"
#define JAX   "JAX"
#define TF    "TensorFlow"

/* Framework NULL: any.  Of a rule the first that fits counts. */
static const struct {
	const char *id, *framework, *variant, *remedy, *code;
} remedies[] = {
	{ "A1", TORCH, "no workers",
	  "the loader runs in the training thread: give it processes of its "
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
	  "load the next batch in another thread or process while the GPU "
	  "works on this one",
	  NULL },
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
	  "allocate host buffers with cudaMallocHost and copy with "
	  "cudaMemcpyAsync on a stream of its own",
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
	{ "A3", TORCH, NULL,
	  "copy results back without waiting, and read them a step later",
	  "host = result.to('cpu', non_blocking=True)" },
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
	{ "A4", TORCH, "compiled",
	  "parts are compiled already: look for graph breaks, and let CUDA "
	  "graphs launch what is left",
	  "TORCH_LOGS=graph_breaks python train.py\n"
	  "torch.compile(model, mode='reduce-overhead', fullgraph=True)" },
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
	{ "A10", TORCH, NULL,
	  "make tensors in the type, on the device and in the layout in which "
	  "they are used; avoid contiguous() and clone() on the way",
	  "torch.ones(n, device=x.device, dtype=x.dtype)" },
	{ "A11", TORCH, NULL,
	  "give each step more samples: the GPU and its memory have room",
	  "DataLoader(dataset, batch_size=2 * batch_size)" },
	{ "A12", TORCH, NULL,
	  "let segments grow instead of allocating new ones, drop what is not "
	  "needed, or compute activations again",
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
	  "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)" },
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
	  "start communication earlier, on a stream of its own", NULL },
	{ "A14", NULL, NULL,
	  "freeze what lives on, and collect by hand between steps",
	  "gc.freeze(); gc.disable()\n"
	  "if step % 1000 == 0: gc.collect()" },
	{ "A15", TORCH, NULL, "drop gradients instead of filling them with 0",
	  "optimizer.zero_grad(set_to_none=True)" },
	{ "A16", TORCH, "steps", "tell the profiler where a step ends",
	  "prof.step()   # at the end of each step" },
	{ "A16", TORCH, "warm-up", "leave warm-up out",
	  "schedule=torch.profiler.schedule(wait=1, warmup=2, active=5)" },
	{ "A16", TORCH, "stacks", "record functions",
	  "profile(with_stack=True, ...)" },
	{ "A16", NULL, "steps", "name the ranges that are steps",
	  "--steps REGEX" },
	{ "A16", NULL, "warm-up", "leave warm-up out", "--skip-first 1" },
	{ "A17", TORCH, NULL,
	  "sort once, sum by segments, or give the rows as one product; "
	  "sparse=True for an embedding of which few rows are used",
	  "nn.Embedding(n, d, sparse=True)" },
	{ "A18", NULL, NULL, "do it every so many steps, or in another thread",
	  "if step % 100 == 0: log(...)" },
	{ "A19", TORCH, NULL, "compile the function that holds them",
	  "@torch.compile\ndef activation(x): ..." },
	{ "A19", NULL, NULL, "write them as one kernel", NULL },
	{ "A20", TORCH, NULL,
	  "decode for many requests at once, so that reading the weights once "
	  "serves all of them, and replay the step as a CUDA graph",
	  "decode = torch.compile(decode, mode='reduce-overhead')" },
};

void advise_remedy(struct pf_advice *a, const char *framework,
		   const char *variant)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(*remedies); i++) {
		if (strcmp(remedies[i].id, a->id) != 0 ||
		    (remedies[i].framework &&
		     (!framework ||
		      strcmp(remedies[i].framework, framework) != 0)) ||
		    (remedies[i].variant &&
		     strcmp(remedies[i].variant, variant) != 0))
			continue;
		a->remedy = remedies[i].remedy;
		a->code = remedies[i].code;
		return;
	}
}
