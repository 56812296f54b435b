import { assert, describe, it } from "@effect/vitest"
import { Completions } from "effect/cli"
import { root } from "../src/commands/root.ts"
import { argumentKinds } from "../src/commands/shellIds.ts"
import { idLines } from "../src/views/idLines.ts"
import { aQuestion, aRun, aSession } from "./support/views.ts"

describe("the ids that a shell offers", () => {
  it("are those of runs, the newest first, each with its plan and its state", () => {
    const older = aRun({ status: "completed" })
    const newer = aRun({ runId: "r2-def", status: "waiting", phase: "2", startedAt: "2026-01-02T10:00:00.000Z" })
    const { "open-runs": open, runs } = idLines([older, newer], [], [])
    assert.deepStrictEqual(runs, ["r2-def\tPLAN.md, waiting, phase 2", "r1-abc\tPLAN.md, completed"])
    assert.deepStrictEqual(open, ["r2-def\tPLAN.md, waiting, phase 2"])
  })

  it("are those of sessions, a standalone one with its words", () => {
    const alone = aSession({ sessionId: "s1-abc", prompt: "say\thello\nand more", status: "paused" })
    const { "open-sessions": open, sessions } = idLines([], [aSession({ phase: "1" }), alone], [])
    assert.deepStrictEqual(sessions, ["r1-abc-s1\tauthor, phase 1, completed", "s1-abc\tsay hello …"])
    assert.deepStrictEqual(open, ["s1-abc\tsay hello …"])
  })

  it("are those of open questions, with what they ask", () => {
    const open = aQuestion({ reason: "Which colour?" })
    const answered = aQuestion({ escalationId: "r1-abc-e0", state: "answered" })
    assert.deepStrictEqual(idLines([], [], [open, answered]).questions, [`${open.escalationId}\tWhich colour?`])
  })

  it("are a hundred at most", () => {
    const runs = Array.from({ length: 120 }, (_, n) => aRun({ runId: `r${n}-abc` }))
    assert.lengthOf(idLines(runs, [], []).runs, 100)
  })
})

interface Named {
  readonly words: string
  readonly argument: string
}

const firstArguments = (
  command: Completions.CommandDescriptor,
  words: ReadonlyArray<string> = []
): ReadonlyArray<Named> => [
  ...command.arguments.slice(0, 1).map(({ name }) => ({ words: words.join(" "), argument: name })),
  ...command.subcommands.flatMap((sub) => firstArguments(sub, [...words, sub.name]))
]

describe("each command's first argument", () => {
  it("is completed where it names a plan, a run, a session or a question", () => {
    const named = firstArguments(Completions.fromCommand(root)).filter(({ argument }) =>
      ["PLAN", "RUN", "SESSION", "ID"].includes(argument)
    )
    assert.isAbove(named.length, 15)
    assert.sameMembers(
      named.map(({ words }) => words),
      [...argumentKinds.keys()]
    )
  })
})
