-- Names of ranges in which advice looks: what torch puts around an optimizer's
-- work (1) and its zeroing of gradients (2), Python functions that log, print or
-- save (3), torch's function that waits for a device (4), what computes
-- activations again by torch's checkpoints (5, 6) and, in the second of them,
-- backward (7); and names that only JAX (10) or TensorFlow (11) have.
-- Order: name_id.
SELECT id AS name_id,
	CASE
		WHEN text GLOB 'Optimizer.step#*' THEN 1
		WHEN text GLOB 'Optimizer.zero_grad#*' THEN 2
		WHEN text GLOB '*torch/*/__init__.py(*): synchronize' THEN 4
		WHEN text GLOB '*torch/utils/checkpoint.py(*): unpack*' THEN 5
		WHEN text = 'CheckpointFunctionBackward' THEN 6
		WHEN text GLOB 'autograd::engine::evaluate_function: *' THEN 7
		WHEN text GLOB 'PjitFunction(*' THEN 10
		WHEN text IN ('EagerExecute', 'EagerKernelExecute')
			OR text GLOB 'EagerLocalExecute: *' THEN 11
		ELSE 3
	END AS mark
FROM string
WHERE text GLOB 'Optimizer.step#*'
	OR text GLOB 'Optimizer.zero_grad#*'
	-- asking whether to log is no logging: torch does it in each backward
	OR (text GLOB '*logging/__init__.py(*): *'
		AND text NOT GLOB '*: getEffectiveLevel'
		AND text NOT GLOB '*: isEnabledFor')
	OR text GLOB '*/tqdm/*.py(*): *'
	OR text GLOB '*torch/utils/tensorboard/*.py(*): *'
	OR text GLOB '*/wandb/*.py(*): *'
	OR text GLOB '*torch/serialization.py(*): save'
	OR text GLOB '<built-in*function print>'
	OR text GLOB '*torch/*/__init__.py(*): synchronize'
	OR text GLOB '*torch/utils/checkpoint.py(*): unpack*'
	OR text = 'CheckpointFunctionBackward'
	OR (text GLOB 'autograd::engine::evaluate_function: *'
		AND text NOT GLOB '*: CheckpointFunctionBackward'
		AND EXISTS (SELECT 1 FROM string
			WHERE text = 'CheckpointFunctionBackward'))
	OR text GLOB 'PjitFunction(*'
	OR text IN ('EagerExecute', 'EagerKernelExecute')
	OR text GLOB 'EagerLocalExecute: *'
ORDER BY id;
