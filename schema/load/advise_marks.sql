-- Names of ranges in which advice looks: what torch puts around an optimizer's
-- work (1) and its zeroing of gradients (2), Python functions that log, print or
-- save (3), torch's function that waits for a device (4), what computes
-- activations again by torch's checkpoints (5, 6), nodes of backward (7), what
-- adds up by index (9), and that for all rows of an embedding (10), what writes
-- down the stack of each operator (11); where there are nodes, operators of forward
-- that backward has not (16), and others (17); collectives
-- of the host, as gloo records them (18); and names that only JAX (19) or
-- TensorFlow (20) have.
-- Asking whether to log is no logging: torch does it in each backward.
-- 12: operators that JAX and TensorFlow run one by one; 13: products and
-- convolutions, where any operator has an input in double precision.
-- Order: name_id.
WITH marked(name_id, mark) AS (
	SELECT id, CASE
		WHEN text GLOB 'Optimizer.step#*' THEN 1
		WHEN text GLOB 'Optimizer.zero_grad#*' THEN 2
		WHEN text GLOB '*logging/__init__.py(*): *'
			THEN iif(text GLOB '*: getEffectiveLevel'
				OR text GLOB '*: isEnabledFor', NULL, 3)
		WHEN text GLOB '*/tqdm/*.py(*): *'
			OR text GLOB '*torch/utils/tensorboard/*.py(*): *'
			OR text GLOB '*/wandb/*.py(*): *'
			OR text GLOB '*torch/serialization.py(*): save'
			OR text GLOB '*lightning/pytorch/core/module.py(*): log'
			OR text GLOB '*lightning/pytorch/core/module.py(*): log_dict'
			OR text GLOB 'json/__init__.py(*): dump'
			OR text GLOB '<built-in*function dump>'
			OR text GLOB 'pandas/*: to_csv' OR text GLOB 'pandas/*: to_parquet'
			OR text GLOB 'numpy/lib/*.py(*): save*'
			OR text GLOB '<built-in*function print>'
			OR text GLOB '<built-in*function f*sync>'
			OR text GLOB '<built-in*method write* of _io.*'
			OR text GLOB '<built-in*method flush of _io.*' THEN 3
		WHEN text GLOB '*torch/*/__init__.py(*): synchronize' THEN 4
		WHEN text GLOB '*torch/fx/traceback.py(*): format_stack' THEN 11
		WHEN text GLOB '*torch/utils/checkpoint.py(*): unpack*' THEN 5
		WHEN text = 'CheckpointFunctionBackward' THEN 6
		WHEN text = 'autograd::engine::evaluate_function: CheckpointFunctionBackward'
			THEN NULL
		WHEN text GLOB 'autograd::engine::evaluate_function: *' THEN 7
		WHEN text = 'aten::embedding_dense_backward' THEN 10
		WHEN text IN ('aten::index_add_', 'aten::index_put', 'aten::index_put_',
			'aten::_index_put_impl_', 'aten::scatter_add',
			'aten::scatter_add_') THEN 9
		WHEN text IN ('aten::batch_norm', 'aten::dropout', 'aten::embedding',
			'aten::gelu', 'aten::group_norm', 'aten::layer_norm',
			'aten::relu', 'aten::rms_norm',
			'aten::scaled_dot_product_attention', 'aten::silu') THEN 16
		WHEN text IN ('aten::conv1d', 'aten::conv2d', 'aten::conv3d',
			'aten::linear', 'aten::matmul', 'aten::softmax') THEN 17
		WHEN text GLOB '$dispatch.py:* apply_primitive'
			OR (text GLOB 'EagerLocalExecute: *'
				AND text NOT GLOB '*__inference_*') THEN 12
		WHEN text GLOB 'aten::*convolution*' OR text GLOB 'aten::*conv?d*'
			OR text IN ('aten::mm', 'aten::addmm', 'aten::bmm', 'aten::baddbmm',
			'aten::addmv', 'aten::mv', 'aten::dot') THEN 13
		WHEN text GLOB 'gloo:*' AND text NOT IN ('gloo:barrier', 'gloo:recv',
			'gloo:send') THEN 18
		WHEN text GLOB 'PjitFunction(*' THEN 19
		WHEN text IN ('EagerExecute', 'EagerKernelExecute')
			OR text GLOB 'EagerLocalExecute: *' THEN 20
	END
	FROM string
)
SELECT name_id, mark
FROM marked
WHERE mark NOTNULL
	AND (mark <> 13 OR EXISTS (SELECT 1 FROM argset
		WHERE instr(text, '"Input type":["double"')))
	AND (mark NOT IN (16, 17) OR EXISTS (SELECT 1 FROM string
		WHERE text GLOB 'autograd::engine::evaluate_function: *'))
ORDER BY name_id;
