/** Tasks of a process that run at any time, but in the order in which they were given. */
import type { Process } from "./Machine.ts"

export const inOrder = (process: Process) => {
  const waiting: Array<() => void> = []
  return (run: () => void, delayMs = 0): void => {
    waiting.push(run)
    const next = () => waiting.shift()?.()
    if (delayMs === 0) process.machine.post(process, next)
    else process.machine.after(process, delayMs, next)
  }
}
