/** The process behind `programStarter.ts`: starts programs as it is told, and tells what they write and how they end. */
import type { Notice, Order } from "./programStarter.ts"
import { type Program, startHere } from "./startHere.ts"

const programs = new Map<number, Program>()

const tell = (notice: Notice): Promise<void> =>
  new Promise((resolve) => {
    process.send?.(notice, undefined, undefined, () => resolve())
  })

const start = (id: number, words: Parameters<typeof startHere>[0]): void => {
  const program = startHere(words, {
    output: (output) => tell({ id, output }),
    errors: (errors) => tell({ id, errors })
  })
  programs.set(id, program)
  const pid = program.pid()
  if (pid !== undefined) void tell({ id, started: pid })
  program.closed
    .then(
      (ended): Notice => ({ id, ended }),
      (error: NodeJS.ErrnoException): Notice => ({ id, failed: { code: error.code, message: error.message } })
    )
    .then((last) => {
      programs.delete(id)
      void tell(last)
    })
}

process.on("message", (order: Order) => {
  if ("start" in order) start(order.id, order.start)
  else programs.get(order.id)?.signal(order.signal)
})
// As when whoever starts a program itself is ended: the program finds that nobody reads any more.
process.on("disconnect", () => process.exit(0))
void tell("ready")
