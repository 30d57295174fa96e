// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_RUNFACTSREADER_H
#define NETC_LIB_FRONTEND_RUNFACTSREADER_H

#include "lib/Frontend/RunKeys.h"

namespace netc {

/// Reads the facts of a run: its length, hardware and conventions.
class RunFactsReader : public RunKeys {
protected:
  RunFactsReader(Evaluator &e, FileScope &file, NetParser::JobContext *job,
                 Point point, RunFactsReader *outer, bool isFacts)
      : RunKeys(e, file, job, std::move(point), outer), isFacts(isFacts),
        around(outer) {}

  /// Reads the length of the run. False after an error.
  bool addSchedule();
  /// Reads the hardware, the time and the precision. False after an error that
  /// makes the rest meaningless.
  bool addHardware();
  /// Whether the step has parts with a stated cost, and nothing that is done
  /// once per step. Then the run can be counted without a batch.
  bool isReported();
  /// Records the position of a key, for the errors of passes.
  void note(llvm::StringRef key) {
    run.places[key.str()] = e.locationOf(placeOf(key));
  }

  const bool isFacts; ///< whether steps are left empty
  StepOp step;        ///< null for a run of jobs
  /// Inputs of the net and fields of the dataset, as tensors of the step.
  std::vector<std::pair<std::string, Tensor>> fields;
  Value results;       ///< of the net
  std::string unsized; ///< an axis without a size in this run
  RunFacts run;

private:
  /// Reads the numbers of examples and tokens. False after an error.
  bool readAmounts();
  bool readTokens();
  /// Whether the batch, the duration or the dataset is in tokens.
  bool speaksOfTokens();
  /// Reports why a key that needs the tokens per example cannot have them.
  void failTokens(llvm::StringRef key, const Message &why);
  bool addSeed();
  bool addBatch();
  bool addSteps();
  /// Reads how often a job runs in each step of the job around it.
  bool addTimes();
  /// The axis of the positions that `decode` generates: that of the first
  /// result with such an axis, else those of the inputs.
  std::set<std::string> positions() const;
  bool addDecoding();
  bool addPrecision();
  bool addDevices();
  bool addTook();
  bool addConventions();
  /// Reads a positive number of this dimension.
  void addQuantity(llvm::StringRef key, RunFacts::Number &fact,
                   Dimension dimension, llvm::StringRef expected);
  /// Reads the year, the owner and the framework, which tell about the
  /// hardware.
  void addCircumstances();
  /// Adds the peaks of a `hardware` section of the file, if the device is one.
  bool addDevice(const std::string &device);
  /// Takes the peak of a device, or its peaks by number format, in place of
  /// those before.
  void addPeak(const Value &value, Tree *at);

  RunFactsReader *around; ///< of the job around this one
  std::optional<Rational> datasetExamples, datasetTokens;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_RUNFACTSREADER_H
