// @module-tag long
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, type Scope } from "effect"
import type { Command } from "../harness/Command.ts"
import { needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const story = script(
  once({ role: "author", kind: "work", phase: 1 }, [
    { bash: "echo begun > begun.txt" },
    {
      hold: "in mid-turn",
      bash: "git add -A && git commit -q -m 'Write phase-1.txt' && git rev-parse HEAD"
    },
    { text: "Done." }
  ]),
  once({ role: "reviewer", kind: "work", phase: 1 }, { hold: "in review", text: "I have read it." }),
  once({ role: "author", kind: "work", phase: 2 }, { text: "There are two ways, and I do not know which." }),
  once({ role: "author", kind: "report", phase: 2 }, needsHuman("Which way?"))
)

/** A quality gate that writes its process id, waits for a line, and ignores SIGTERM. */
const gate = `trap "" TERM; echo $$ > ../gate.pid; read line < ../gate.fifo`

const outside = (world: World, name: string) => join(world.root, "..", name)

/** Opens the pipe; completes once the gate reads from it. */
const openFifo = (world: World) =>
  Effect.acquireRelease(
    Effect.promise(() => open(outside(world, "gate.fifo"), "w")),
    (fifo) => Effect.promise(() => fifo.close())
  )

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits until the gate's process has ended. A gate that outlived its run would wait forever. */
const gateIsGone = (world: World) =>
  Effect.sync(() => isAlive(Number(readFileSync(outside(world, "gate.pid"), "utf8")))).pipe(
    Effect.repeat({ schedule: Schedule.spaced("20 millis"), while: (alive) => alive })
  )

/** Lets the waiting gate pass. */
const passGate = (world: World) =>
  Effect.scoped(Effect.flatMap(openFifo(world), (fifo) => Effect.promise(() => fifo.write("go\n"))))

interface Moment {
  readonly when: string
  readonly reached: (world: World, run: Command) => Effect.Effect<unknown, Error, Scope.Scope>
  /** Removes what held the run at this moment, so that the next one passes it. */
  readonly after?: (world: World) => Effect.Effect<unknown>
}

const moments: ReadonlyArray<Moment> = [
  { when: "before the first prompt", reached: (_, run) => run.waitFor(/Run \S+ of PLAN\.md/) },
  {
    when: "in mid-turn",
    reached: (world) => world.model.awaitHeld("in mid-turn"),
    after: (world) => world.model.release("in mid-turn")
  },
  { when: "in a quality gate", reached: openFifo, after: gateIsGone },
  {
    when: "in review",
    reached: (world) => Effect.andThen(passGate(world), world.model.awaitHeld("in review")),
    after: (world) => world.model.release("in review")
  },
  { when: "at the open gate", reached: (_, run) => run.waitFor(/answer> /) }
]

/** An OpenCode that Reprise started ends with the run; one that runs elsewhere keeps its agents at work. */
const presses = [
  { how: "Ctrl-C at any moment parks", keys: "\x03", openCode: "own" },
  { how: "a second Ctrl-C leaves at once", keys: "\x03\x03", openCode: "shared" }
] as const

describe("a run that is interrupted at its terminal", () => {
  for (const { how, keys, openCode } of presses) {
    it.live(`${how}: continues in the same sessions with the next reprise run, and nothing is lost or done twice`, () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({
          openCode,
          plan: plan("One", "Two"),
          config: `permissions = "all"\n[gates]\nquality = ['${gate}']\n`,
          script: story
        })
        execFileSync("mkfifo", [outside(world, "gate.fifo")])
        const press = Effect.fnUntraced(function* ({ after, reached, when }: Moment) {
          const run = yield* world.atTerminal("run", "PLAN.md")
          // The gate's pipe would be waited for even if the run had ended.
          const early = Effect.flatMap(run.ended, ({ code, stdout }) =>
            Effect.fail(new Error(`${when}: the run ended with ${code} before it came there: ${stdout}`))
          )
          yield* Effect.raceFirst(reached(world, run), early)
          run.type(keys)
          const { code, stdout } = yield* run.ended
          assert.strictEqual(code, 130, `${when}: ${stdout}`)
          yield* after?.(world) ?? Effect.void
        }, Effect.scoped)
        for (const moment of moments) yield* press(moment)

        const [question] = yield* world.questions
        yield* world.reprise("gate", "answer", question?.escalationId ?? "", "c", "--guidance", "The first one.")
        const last = yield* world.start("run", "PLAN.md")
        yield* passGate(world)
        const ended = yield* last.ended
        assert.strictEqual(ended.code, 0, ended.stderr)

        assert.deepStrictEqual(
          (yield* world.runs).map(({ phases }) =>
            phases.map(({ qualityAttempts, reviewCycles, state }) => [state, qualityAttempts, reviewCycles])
          ),
          [
            [
              ["completed", 1, 1],
              ["completed", 1, 1]
            ]
          ]
        )
        assert.deepStrictEqual((yield* world.sessions).map(({ phase, role }) => `${phase} ${role}`).sort(), [
          "1 author",
          "1 reviewer",
          "2 author",
          "2 reviewer"
        ])
        const written = world.git("log", "--format=%s", "--reverse", "--grep=^Write")
        assert.deepStrictEqual(written.split("\n"), ["Write phase-1.txt", "Write phase-2.txt"])
        assert.deepStrictEqual(yield* world.model.unmatched, [])
      })
    )
  }
})
