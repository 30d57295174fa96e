// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What netc would compile of a linear regression with a bias for each of three
// kinds of examples, by hand: y ~ x w + bias[kind], mean square error,
// momentum.

#include <cmath>
#include <cstdint>

extern "C" {
extern const char netc_program[];
void netc_execute_cpu();
extern void (*const netc_execution)();
void netc_step(char *arena);
extern int64_t netc_counts[];
void netc_record(int64_t op);
}

void (*const netc_execution)() = netc_execute_cpu;

static const int examples = 8, features = 4, kinds = 3;

const char netc_program[] = R"({"format":1,"netc":"0.1.0","run":"run",
"network":"Regression","batch":8,"lowering":"reference","counted":true,
"target":{"name":"cpu","isa":"baseline","cpu":"x86-64"},
"conventions":{"fma":2,"causal":"full"},
"arena":1024,"buffers":1024,"stack":0,
"slots":[
{"name":"x","role":"input","element":"f32","shape":[8,4],"offset":0},
{"name":"kind","role":"input","element":"i64","upper_bound":3,"shape":[8],"offset":128},
{"name":"y","role":"input","element":"f32","shape":[8],"offset":192},
{"name":"weight","role":"parameter","init":"fan_in","element":"f32","shape":[4],"offset":256},
{"name":"bias","role":"parameter","init":"zeros","element":"f32","shape":[3],"offset":320},
{"name":"weight.momentum","role":"state","init":"zeros","element":"f32","shape":[4],"offset":384},
{"name":"bias.momentum","role":"state","init":"zeros","element":"f32","shape":[3],"offset":448},
{"name":"loss","role":"result","element":"f32","shape":[],"offset":512},
{"name":"step","role":"step","element":"f32","shape":[],"offset":576},
{"name":"seed","role":"seed","element":"i64","shape":[],"offset":640}],
"ops":[
{"name":"linear","op":"linear","phase":"forward","matmul":64,"other":0,"transcendental":0,"bytes":176},
{"name":"bias","op":"add","phase":"forward","matmul":0,"other":8,"transcendental":0,"bytes":140},
{"name":"loss","op":"mse","phase":"forward","matmul":0,"other":25,"transcendental":0,"bytes":68},
{"name":"linear","op":"linear","phase":"weight","matmul":64,"other":0,"transcendental":0,"bytes":176},
{"name":"bias","op":"add","phase":"weight","matmul":0,"other":8,"transcendental":0,"bytes":108},
{"name":"momentum","op":"sgd","phase":"update","matmul":0,"other":29,"transcendental":1,"bytes":140}]})";

int64_t netc_counts[6 * 3];

static void count(int op, int64_t matmul, int64_t other,
                  int64_t transcendental) {
  netc_counts[3 * op] += matmul;
  netc_counts[3 * op + 1] += other;
  netc_counts[3 * op + 2] += transcendental;
}

void netc_step(char *arena) {
  auto at = [&](int offset) {
    return reinterpret_cast<float *>(arena + offset);
  };
  const float *x = at(0), *y = at(192);
  const int64_t *kind = reinterpret_cast<int64_t *>(arena + 128);
  float *weight = at(256), *bias = at(320), *momentum = at(384);
  float *loss = at(512), *prediction = at(704), *gradient = at(768);

#pragma omp parallel for
  for (int i = 0; i < examples; ++i) {
    prediction[i] = 0;
    for (int j = 0; j < features; ++j)
      prediction[i] += x[i * features + j] * weight[j];
  }
  count(0, 2 * examples * features, 0, 0);
  netc_record(0);

  for (int i = 0; i < examples; ++i)
    prediction[i] += bias[kind[i]];
  count(1, 0, examples, 0);
  netc_record(1);

  *loss = 0;
  for (int i = 0; i < examples; ++i) {
    prediction[i] -= y[i];
    *loss += prediction[i] * prediction[i];
  }
  *loss /= examples;
  count(2, 0, 3 * examples + 1, 0);
  netc_record(2);

  for (int j = 0; j < features + kinds; ++j)
    gradient[j] = 0;
  for (int i = 0; i < examples; ++i)
    for (int j = 0; j < features; ++j)
      gradient[j] += x[i * features + j] * prediction[i];
  count(3, 2 * examples * features, 0, 0);
  netc_record(3);

  for (int i = 0; i < examples; ++i)
    gradient[features + kind[i]] += prediction[i];
  count(4, 0, examples, 0);
  netc_record(4);

  float rate = 0.05f / std::sqrt(*at(576));
  for (int j = 0; j < features + kinds; ++j) {
    float &m = momentum[j < features ? j : 16 + j - features];
    float &parameter = j < features ? weight[j] : bias[j - features];
    m = 0.5f * m + gradient[j];
    parameter -= rate * m;
  }
  count(5, 0, 4 * (features + kinds) + 1, 1);
  netc_record(5);
}
