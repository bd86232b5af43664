-- Names of ranges in which advice looks: what torch puts around an optimizer's
-- work (1) and its zeroing of gradients (2), and Python functions that log,
-- print or save (3).  Order: name_id.
SELECT id AS name_id,
	CASE
		WHEN text GLOB 'Optimizer.step#*' THEN 1
		WHEN text GLOB 'Optimizer.zero_grad#*' THEN 2
		ELSE 3
	END AS mark
FROM string
WHERE text GLOB 'Optimizer.step#*'
	OR text GLOB 'Optimizer.zero_grad#*'
	OR text GLOB '*logging/__init__.py(*): *'
	OR text GLOB '*/tqdm/*.py(*): *'
	OR text GLOB '*torch/utils/tensorboard/*.py(*): *'
	OR text GLOB '*/wandb/*.py(*): *'
	OR text GLOB '*torch/serialization.py(*): save'
	OR text GLOB '<built-in*function print>'
ORDER BY id;
