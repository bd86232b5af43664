/* SPDX-License-Identifier: MIT */
/*
 * The inputs and kernels of the model that model.c runs; included there only.
 * Names are as compilers mangle them out, times as on a large GPU.
 */
#ifndef PF_TESTS_GEN_TABLES_H
#define PF_TESTS_GEN_TABLES_H

#include "gen/gen.h"

#define SHAPE3  "[8, 512, 768]"
#define STRIDE3 "[393216, 768, 1]"
static const struct gen_shape shape_hidden = { "[" SHAPE3 "]", "[\"float\"]",
					       "[" STRIDE3 "]", "[\"\"]" };
static const struct gen_shape shape_add = {
	"[" SHAPE3 ", " SHAPE3 ", []]", "[\"float\", \"float\", \"Scalar\"]",
	"[" STRIDE3 ", " STRIDE3 ", []]", "[\"\", \"\", \"1\"]"
};
static const struct gen_shape shape_linear = {
	"[" SHAPE3 ", [768, 768], [768]]", "[\"float\", \"float\", \"float\"]",
	"[" STRIDE3 ", [768, 1], [1]]", "[\"\", \"\", \"\"]"
};
static const struct gen_shape shape_addmm = {
	"[[768], [4096, 768], [768, 768], [], []]",
	"[\"float\", \"float\", \"float\", \"Scalar\", \"Scalar\"]",
	"[[1], [768, 1], [1, 768], [], []]", "[\"\", \"\", \"\", \"1\", \"1\"]"
};
static const struct gen_shape shape_mm = { "[[4096, 768], [768, 768]]",
					   "[\"float\", \"float\"]",
					   "[[768, 1], [768, 1]]",
					   "[\"\", \"\"]" };
static const struct gen_shape shape_mm_weight = { "[[768, 4096], [4096, 768]]",
						  "[\"float\", \"float\"]",
						  "[[1, 768], [768, 1]]",
						  "[\"\", \"\"]" };
static const struct gen_shape shape_weight = { "[[768, 768]]", "[\"float\"]",
					       "[[768, 1]]", "[\"\"]" };
static const struct gen_shape shape_norm = {
	"[" SHAPE3 ", [], [768], [768], []]",
	"[\"float\", \"ScalarList\", \"float\", \"float\", \"Scalar\"]",
	"[" STRIDE3 ", [], [1], [1], []]",
	"[\"\", \"[768]\", \"\", \"\", \"1.0000000000000001e-05\"]"
};
static const struct gen_shape shape_heads = {
	"[[8, 12, 512, 64], [8, 12, 512, 64], [8, 12, 512, 64], [], [], []]",
	"[\"float\", \"float\", \"float\", \"\", \"Scalar\", \"Scalar\"]",
	"[[393216, 64, 768, 1], [393216, 64, 768, 1], [393216, 64, 768, 1], "
	"[], [], []]",
	"[\"\", \"\", \"\", \"\", \"0.\", \"True\"]"
};
static const struct gen_shape shape_ids = {
	"[[50304, 768], [8, 512], [], [], []]",
	"[\"float\", \"long int\", \"Scalar\", \"Scalar\", \"Scalar\"]",
	"[[768, 1], [512, 1], [], [], []]",
	"[\"\", \"\", \"-1\", \"False\", \"False\"]"
};
static const struct gen_shape shape_logits = {
	"[[4096, 50304], [4096], [], [], [], []]",
	"[\"float\", \"long int\", \"\", \"Scalar\", \"Scalar\", \"Scalar\"]",
	"[[50304, 1], [1], [], [], [], []]",
	"[\"\", \"\", \"\", \"1\", \"-100\", \"0.\"]"
};
static const struct gen_shape shape_scalar = { "[[]]", "[\"float\"]", "[[]]",
					       "[\"\"]" };

static const struct gen_kernel kernel_gemm = {
	"ampere_sgemm_128x64_tn", 61000, { 6, 64, 1 }, { 128, 1, 1 }, 122, 12544
};
static const struct gen_kernel kernel_gemm_nn = {
	"ampere_sgemm_128x64_nn", 63500, { 6, 64, 1 }, { 128, 1, 1 }, 126, 12544
};
static const struct gen_kernel kernel_gemm_nt = {
	"ampere_sgemm_128x32_nt", 66200, { 24, 6, 2 }, { 256, 1, 1 }, 118, 16640
};
static const struct gen_kernel kernel_add = {
	"void at::native::vectorized_elementwise_kernel<4, at::native::"
	"CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, at::native::"
	"CUDAFunctor_add<float>, std::array<char*, 3ul>)",
	14100,
	{ 6144, 1, 1 },
	{ 128, 1, 1 },
	32,
	0
};
static const struct gen_kernel kernel_gelu = {
	"void at::native::vectorized_elementwise_kernel<4, at::native::"
	"GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::"
	"{lambda()#2}::operator()() const::{lambda()#2}::operator()() const::"
	"{lambda(float)#1}, std::array<char*, 2ul> >(int, float)",
	16800,
	{ 6144, 1, 1 },
	{ 128, 1, 1 },
	36,
	0
};
static const struct gen_kernel kernel_gelu_back = {
	"void at::native::vectorized_elementwise_kernel<4, at::native::"
	"GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::"
	"GeluType)::{lambda()#2}, std::array<char*, 3ul> >(int, float)",
	22400,
	{ 6144, 1, 1 },
	{ 128, 1, 1 },
	40,
	0
};
static const struct gen_kernel kernel_norm = {
	"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel"
	"<float, float>(int, float, float const*, float const*, float const*, "
	"float*, float*, float*)",
	11700,
	{ 4096, 1, 1 },
	{ 32, 4, 1 },
	40,
	24
};
static const struct gen_kernel kernel_norm_back = {
	"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel"
	"_vectorized<float, float>(float const*, float const*, float const*, "
	"float const*, float const*, float*, int)",
	19300,
	{ 4096, 1, 1 },
	{ 128, 1, 1 },
	40,
	128
};
static const struct gen_kernel kernel_norm_gamma = {
	"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel"
	"_32x32<float, float>(long, long, float const*, float const*, "
	"float const*, float const*, float*, float*)",
	24800,
	{ 24, 1, 1 },
	{ 32, 32, 1 },
	26,
	4352
};
static const struct gen_kernel kernel_attention = {
	"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::"
	"AttentionKernel<float, cutlass::arch::Sm80, true, 64, 64, 64, true, "
	"true>::Params)",
	118000,
	{ 8, 12, 8 },
	{ 32, 4, 1 },
	168,
	0
};
static const struct gen_kernel kernel_attention_back = {
	"fmha_cutlassB_f32_aligned_64x64_k64_sm80(PyTorchMemEffAttention::"
	"AttentionBackwardKernel<cutlass::arch::Sm80, float, true, false, "
	"false, 64, 64, 64, false>::Params)",
	304000,
	{ 1, 12, 8 },
	{ 32, 4, 1 },
	255,
	65536
};
static const struct gen_kernel kernel_reduce = {
	"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, "
	"at::native::func_wrapper_t<float, at::native::sum_functor<float, "
	"float, float>::operator()(at::TensorIterator&)::{lambda(float, "
	"float)#1}>, unsigned int, float, 4, 4> >",
	13900,
	{ 6, 1, 1 },
	{ 32, 16, 1 },
	32,
	8192
};
static const struct gen_kernel kernel_index = {
	"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, "
	"long, unsigned int, 2, 2, -2, true>",
	15600,
	{ 1056, 1, 1 },
	{ 128, 1, 1 },
	32,
	0
};
static const struct gen_kernel kernel_embed_back = {
	"void at::native::(anonymous namespace)::compute_grad_weight<float, "
	"long>(long const*, float const*, long const*, long, long)",
	41200,
	{ 96, 64, 1 },
	{ 32, 4, 1 },
	40,
	0
};
static const struct gen_kernel kernel_softmax = {
	"void (anonymous namespace)::cunn_SoftMaxForward<4, float, float, "
	"float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>"
	"(float*, float const*, int)",
	452000,
	{ 4096, 1, 1 },
	{ 1024, 1, 1 },
	32,
	128
};
static const struct gen_kernel kernel_softmax_back = {
	"void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float,"
	" float, float, LogSoftMaxBackwardEpilogue>(float*, float const*, "
	"float const*, int)",
	671000,
	{ 4096, 1, 1 },
	{ 1024, 1, 1 },
	36,
	128
};
static const struct gen_kernel kernel_loss = {
	"void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda"
	"_kernel_2d<float, float, long>(float*, float*, float const*, "
	"long const*, float const*, bool, long, long, long, long)",
	9200,
	{ 1, 1, 1 },
	{ 32, 1, 1 },
	30,
	256
};
static const struct gen_kernel kernel_adam = {
	"void at::native::(anonymous namespace)::multi_tensor_apply_kernel"
	"<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata"
	"<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, "
	"4, (at::native::ADAM_MODE)1, false>, float const*, double>",
	187000,
	{ 320, 1, 1 },
	{ 512, 1, 1 },
	64,
	0
};

#endif
