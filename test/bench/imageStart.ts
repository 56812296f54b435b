/** The start of the command in its image, compared with the start of Node in the same image. */
import { performance } from "node:perf_hooks"
import { skippedNotice } from "@reprise/testing"
import { Effect } from "effect"
import { RepriseImage, repriseImage } from "../containers/repriseImage.ts"
import { figuresOf, milliseconds } from "./figures.ts"

const rounds = 9

const measured = Effect.gen(function* () {
  const { start } = yield* RepriseImage
  const time = (args: ReadonlyArray<string>, entrypoint?: ReadonlyArray<string>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const started = performance.now()
        const { code, output } = yield* (yield* start(args, entrypoint === undefined ? {} : { entrypoint })).ended
        if (code !== 0) return yield* Effect.die(new Error(`It ended with ${code}: ${output}`))
        return performance.now() - started
      })
    )
  yield* time([])
  const node: Array<number> = []
  const help: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    node.push(yield* time(["--eval", ""], ["node"]))
    help.push(yield* time(["--help"]))
  }
  const { base, image } = yield* (yield* RepriseImage).sizes
  return [
    `node --eval '' in a container: ${milliseconds(figuresOf(node))}`,
    `reprise --help in a container: ${milliseconds(figuresOf(help))}`,
    `the image adds ${((image - base) / 1e6).toFixed(1)} MB to its base of ${(base / 1e6).toFixed(0)} MB`
  ].join("\n")
})

export const imageStart = async (): Promise<void> => {
  const text = await Effect.runPromise(
    measured.pipe(
      Effect.scoped,
      Effect.provide(repriseImage),
      Effect.catchTag("NoContainerEngine", () => Effect.succeed(skippedNotice))
    )
  )
  process.stdout.write(`${text}\n`)
}
