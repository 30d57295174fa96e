# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops of PyTorch in others of PyTorch that netc has a word for."""

import torch
from torch.nn.functional import linear


def _sums(x, h, weight, state_weight, bias=None, state_bias=None):
    return linear(x, weight, bias), linear(h, state_weight, state_bias)


def _rnn_cell(activation):
    return lambda *operands: activation(sum(_sums(*operands)))


def _gru_cell(x, h, *weights):
    (r, z, n), (state_r, state_z, state_n) = (part.chunk(3, 1) for part in _sums(x, h, *weights))
    z = torch.sigmoid(z + state_z)
    n = torch.tanh(n + torch.sigmoid(r + state_r) * state_n)
    return (1 - z) * n + z * h


def _lstm_cell(x, states, *weights):
    h, c = states
    i, f, u, o = sum(_sums(x, h, *weights)).chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)
    return torch.sigmoid(o) * torch.tanh(c), c


def _einsum(equation, operands, path=None):
    """Of more than two operands: pairs in PyTorch's order, which is from left to right, unless it was told a path."""
    parts, _, made = equation.replace(" ", "").replace("...", ".").partition("->")
    letters = parts.split(",")
    if len(letters) < 3 or len(letters) != len(operands):
        return NotImplemented
    if "->" not in equation:
        made = "." * ("." in parts) + "".join(sorted(each for each in set(parts) - {",", "."} if parts.count(each) == 1))
    operands, pairs = list(operands), iter([sorted(path[i : i + 2]) for i in range(0, len(path), 2)] if path else [])
    while len(operands) > 2:
        first, second = next(pairs, (0, 1))
        own, other = letters.pop(second), letters.pop(first)
        kept = "".join(dict.fromkeys(each for each in other + own if each in made or any(each in rest for rest in letters)))
        y, x = operands.pop(second), operands.pop(first)
        at = len(operands) if path else 0
        operands.insert(at, torch.einsum(f"{other},{own}->{kept}".replace(".", "..."), x, y))
        letters.insert(at, kept)
    return torch.einsum(f"{','.join(letters)}->{made}".replace(".", "..."), *operands)


def _bilinear(x, y, weight, bias=None):
    rows = "abcdefgh"[: x.ndim - 1]
    made = torch.einsum(f"{rows}i,oij,{rows}j->{rows}o", x, weight, y)
    return made if bias is None else made + bias


def _dot(x, y):
    return torch.einsum("i,i->", x, y)


def _lerp(start, end, weight):
    return start + weight * (end - start)


def _windows(x, axis, size, step, dilation=1):
    """Parts of an axis, along a new axis behind it."""
    count = (x.shape[axis] - dilation * (size - 1) - 1) // step + 1
    starts, offsets = (torch.arange(n, device=x.device) for n in (count, size))
    places = (step * starts[:, None] + dilation * offsets).flatten()
    return x.index_select(axis, places).unflatten(axis, (count, size))


def _unfold(x, axis, size, step):
    axis %= x.ndim
    return _windows(x, axis, size, step).movedim(axis + 1, -1)


def _im2col(x, kernel, dilation, padding, stride):
    (left, right), rank = padding, x.ndim
    x = torch.nn.functional.pad(x, (right, right, left, left))
    x = _windows(x, rank - 2, kernel[0], stride[0], dilation[0])
    x = _windows(x, rank, kernel[1], stride[1], dilation[1])
    rows = list(range(rank - 2))
    return x.permute(*rows, rank - 1, rank + 1, rank - 2, rank).flatten(-2).flatten(-4, -2)


def _reduced(losses, reduction):
    return losses.mean() if reduction == 1 else losses.sum() if reduction == 2 else losses


def _nll(x, target, weight=None, reduction=1, ignore_index=-100):
    if weight is not None or ignore_index >= 0:
        return NotImplemented
    scores = x.movedim(min(1, x.ndim - 1), -1)
    return _reduced(-scores.gather(-1, target.unsqueeze(-1)).squeeze(-1), reduction)


def _cross_entropy(x, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if weight is None and reduction == 1:
        return NotImplemented
    if ignore_index >= 0 or (weight is not None and (target.is_floating_point() or label_smoothing)):
        return NotImplemented
    at = min(1, x.ndim - 1)
    scores = x.log_softmax(at)
    of_rest = lambda: -scores.mean(at)
    losses = -(scores * target).sum(at) if target.is_floating_point() else _nll(scores, target, reduction=0)
    if weight is not None:
        weights = torch.nn.functional.embedding(target, weight.unsqueeze(-1)).squeeze(-1)
        return (losses * weights).sum() / weights.sum() if reduction == 1 else _reduced(losses * weights, reduction)
    return _reduced((1 - label_smoothing) * losses + label_smoothing * of_rest() if label_smoothing else losses, reduction)


def _xlogy(x, y):
    """0 where x is, and its gradients."""
    return x * torch.where(x == 0, 1.0, y).log()


def _truth(x):
    return (x if x.dtype == torch.bool else x != 0).float()


def _any(x, axis, keepdim=False):
    return _truth(x).amax(axis, keepdim) != 0


def _all(x, axis, keepdim=False):
    return _truth(x).amin(axis, keepdim) != 0


def _clamp(x, low=None, high=None):
    return NotImplemented if low is None or high is None else torch.minimum(torch.maximum(x, low), high)


def _entropy(x):
    return -_xlogy(x, x)


def _kl_div(x, target, reduction=1, log_target=False):
    return _reduced(target.exp() * (target - x) if log_target else _xlogy(target, target) - target * x, reduction)


def _one_hot(x, classes=-1):
    return NotImplemented if classes < 0 else (x.unsqueeze(-1) == torch.arange(classes, device=x.device)).to(x.dtype)


def _cdist(x, y, p=2.0, compute_mode=None):
    """By a product, as PyTorch does where there are more than 25 rows."""
    are_few = all(isinstance(each.shape[-2], int) and each.shape[-2] <= 25 for each in (x, y))
    if p == 2 and compute_mode != 2 and (compute_mode == 1 or not are_few):
        (own, ones), (others, others_ones) = ((square, torch.ones_like(square)) for square in (each.pow(2).sum(-1, keepdim=True) for each in (x, y)))
        return (torch.cat([-2 * x, own, ones], -1) @ torch.cat([y, others_ones, others], -1).mT).clamp_min(0).sqrt()
    apart = x.unsqueeze(-2) - y.unsqueeze(-3)
    return apart.pow(2).sum(-1).sqrt() if p == 2 else apart.abs().sum(-1) if p == 1 else NotImplemented


def _scatter_add(x, axis, index, rows):
    """Rows that are added by their numbers, if the index of a row is that of all its elements."""
    if axis % x.ndim or any(stride and size != 1 for stride, size in zip(index.stride()[1:], index.shape[1:])):
        return NotImplemented
    return x.index_add(0, index if index.ndim == 1 else index.flatten(1)[:, 0], rows)


def _index_put(x, indices, rows, accumulate=False):
    if len(indices) == 1 and indices[0].dtype == torch.bool and not accumulate and rows.numel() == 1:
        shown = indices[0].reshape(*indices[0].shape, *[1] * (x.ndim - indices[0].ndim))
        return torch.where(shown, rows.reshape(()), x)
    return x.index_add(0, *indices, rows) if accumulate and len(indices) == 1 and indices[0].ndim == 1 else NotImplemented


def _triangle(x, shown):
    rows, columns = (torch.arange(x.shape[axis], device=x.device) for axis in (-2, -1))
    return torch.where(shown(columns - rows[:, None]), x, torch.zeros((), dtype=x.dtype, device=x.device))


def _triu(x, diagonal=0):
    """From the diagonal on, it is a lower triangle that is turned: netc hides what is above the diagonal."""
    is_own = diagonal == 1 or x.shape[-2] != x.shape[-1]
    return _triangle(x, lambda ahead: ahead >= diagonal) if is_own else x.mT.tril(-diagonal).mT


def _tril(x, diagonal=0):
    """Another diagonal of a square is the main one of a larger square."""
    size, by = x.shape[-1], abs(diagonal)
    if diagonal == -1:
        return x.mT.triu(1).mT
    if diagonal == 0 or x.shape[-2] != size:
        return _triangle(x, lambda ahead: ahead <= diagonal)
    if diagonal > 0:
        return torch.nn.functional.pad(x, (0, by, by, 0)).tril()[..., by:, :size]
    return torch.nn.functional.pad(x, (by, 0, 0, by)).tril()[..., :size, by:]


def _cosine_similarity(x, y, axis=1, eps=1e-8):
    return NotImplemented if x.shape == y.shape else torch.cosine_similarity(*torch.broadcast_tensors(x, y), axis, eps)


def _addmm(bias, x, matrix, beta=1, alpha=1):
    """A sum whose parts are scaled is no layer."""
    return NotImplemented if beta == alpha == 1 else alpha * (x @ matrix) + beta * bias


def _diag(x, diagonal=0):
    return _diag_embed(x, diagonal) if x.ndim == 1 else torch.einsum("ii->i", x) if diagonal == 0 else NotImplemented


def _diag_embed(x, offset=0, first=-2, second=-1):
    return NotImplemented if offset or (first, second) != (-2, -1) else x.unsqueeze(-1) * torch.eye(x.shape[-1], device=x.device)


def _norm_except(x, power=2, axis=0):
    return x.norm(power, [i for i in range(x.ndim) if axis == -1 or i != axis], keepdim=axis != -1)


def _log_add_exp(x, y):
    return torch.maximum(x, y) + torch.log1p(torch.exp(-(x - y).abs()))


def _take_along(x, places, axis=None):
    if axis is None or x.ndim != places.ndim:
        return NotImplemented
    sizes = [[1 if i == axis % x.ndim else size for i, size in enumerate(each.shape)] for each in (x, places)]
    shape = torch.broadcast_shapes(*sizes)
    x, places = (each.expand([-1 if i == axis % x.ndim else size for i, size in enumerate(shape)]) for each in (x, places))
    return x.gather(axis, places)


def _select_scatter(x, part, axis, index):
    place = index % x.shape[axis]
    return x.slice_scatter(part.unsqueeze(axis), axis, place, place + 1)


def _slice_scatter(x, part, axis=0, start=None, end=None, step=1):
    """Places with others between, but for the last one, are one of `step` in each row of a matrix."""
    if step == 1:
        return NotImplemented
    count, first = part.shape[axis] - 1, min(max(start + (x.shape[axis] if start < 0 else 0), 0), x.shape[axis]) if start else 0
    last = first + count * step
    cut = lambda begin, end: x.narrow(axis, begin, end - begin)
    rows = cut(first, last).unflatten(axis, (count, step)).select_scatter(part.narrow(axis, 0, count), axis % x.ndim + 1, 0).flatten(axis % x.ndim, axis % x.ndim + 1)
    return torch.cat([cut(0, first), rows, part.narrow(axis, count, 1), cut(last + 1, x.shape[axis])], axis)


# Ops of PyTorch that become several of netc's, such as one step of a recurrence.
OWN = {
    torch.ops.aten.all.dim: _all, torch.ops.aten.any.dim: _any, torch.ops.aten.clamp.Tensor: _clamp,
    torch.ops.aten.cdist.default: _cdist, torch.ops.aten.cosine_similarity.default: _cosine_similarity,
    torch.ops.aten.cross_entropy_loss.default: _cross_entropy, torch.ops.aten.kl_div.default: _kl_div,
    torch.ops.aten.nll_loss_nd.default: _nll, torch.ops.aten.one_hot.default: _one_hot, torch.ops.aten.select_scatter.default: _select_scatter,
    torch.ops.aten.slice_scatter.default: _slice_scatter, torch.ops.aten.xlogy.Tensor: _xlogy, torch.ops.aten.special_entr.default: _entropy, torch.ops.aten.unfold.default: _unfold, torch.ops.aten.im2col.default: _im2col, torch.ops.aten.index_put.default: _index_put,
    torch.ops.aten.addmm.default: _addmm, torch.ops.aten.diag.default: _diag, torch.ops.aten.diag_embed.default: _diag_embed, torch.ops.aten.logaddexp.default: _log_add_exp,
    torch.ops.aten.take_along_dim.default: _take_along, torch.ops.aten.trace.default: lambda x: torch.einsum("ii->", x),
    torch.ops.aten.scatter_add.default: _scatter_add, torch.ops.aten.tril.default: _tril, torch.ops.aten.triu.default: _triu,
    torch.ops.aten.einsum.default: _einsum, torch.ops.aten.dot.default: _dot, torch.ops.aten.mv.default: lambda matrix, x: torch.einsum("ij,j->i", matrix, x), torch.ops.aten.vdot.default: _dot,
    torch.ops.aten.norm_except_dim.default: _norm_except, torch.ops.aten.bilinear.default: _bilinear, torch.ops.aten.lerp.Scalar: _lerp, torch.ops.aten.lerp.Tensor: _lerp,
    torch.ops.aten.gru_cell.default: _gru_cell, torch.ops.aten.lstm_cell.default: _lstm_cell,
    torch.ops.aten.rnn_relu_cell.default: _rnn_cell(torch.relu), torch.ops.aten.rnn_tanh_cell.default: _rnn_cell(torch.tanh),
}  # fmt: skip


# What PyTorch says in other ops, and netc has no word for.
DECOMPOSED = """
absolute addcdiv addcmul addmv addr aminmax atleast_1d atleast_2d atleast_3d binary_cross_entropy binary_cross_entropy_with_logits
broadcast_tensors chain_matmul channel_shuffle clip column_stack concat concatenate deg2rad diff divide dstack embedding_bag fliplr flipud
float_power ger greater greater_equal hardshrink hinge_embedding_loss hstack huber_loss inner kron l1_loss less less_equal linalg_matmul
linalg_multi_dot linalg_norm linalg_vecdot logit margin_ranking_loss mse_loss multiply negative norm not_equal outer pairwise_distance
poisson_nll_loss rad2deg relu6 rot90 row_stack smooth_l1_loss soft_margin_loss special_exp2 special_expit special_expm1 special_log1p
special_log_softmax special_logsumexp special_softmax subtract sum_to_size tensordot threshold tile triplet_margin_loss true_divide vstack
_weight_norm _weight_norm_interface
""".split()


def decompositions():
    """What is done to ops that netc has no word for."""
    of = torch.export.default_decompositions()
    packets = [getattr(torch.ops.aten, name) for name in DECOMPOSED]
    overloads = [getattr(packet, name) for packet in packets for name in packet.overloads()]
    return {op: of[op] for op in overloads if op in of} | OWN
