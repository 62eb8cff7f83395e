/** Milliseconds that the processor works for it, which are about the same on a busy machine. */
export const processorTime = (work: () => void) => {
  const before = process.cpuUsage()
  work()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1_000
}
