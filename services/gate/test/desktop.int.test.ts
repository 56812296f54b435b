/** Notices on a desktop, by a program in the place of the system's that notes how it was called. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { drain } from "@reprise/actor"
import { leaveTree, runProgram } from "@reprise/process"
import { Effect } from "effect"
import { resolveChannels, send } from "../src/index.ts"
import { desktopNotice, notifySendArguments } from "../src/notify/desktopNotice.ts"
import { noticeQuestion, type QuestionNotice } from "../src/notify/Notice.ts"
import type { DesktopChannel } from "../src/work/notify/Channel.ts"
import { findDesktopProgram } from "../src/work/notify/desktopProgram.ts"
import { question, timeAt } from "./fixtures.ts"
import { answer, askAbout, newQuestion, startGate, waitUntil, world } from "./support/overJetStream.ts"

const hostile = "--help <b>one</b> & \\033[31m\\nA\u0000\u202e"
const raised: QuestionNotice = {
  _tag: "Raised",
  question: noticeQuestion(question({ reason: hostile, evidence: { planTitle: "-plan <i>" } }), timeAt(0))
}
const answered: QuestionNotice = { ...raised, _tag: "Answered", choice: "fix", by: "ada", via: "cli" }

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "desktop-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** A program that writes its arguments into one file for each call, and its variables. */
const standIn = (exitCode: number) => `#!/bin/sh
export -p > "$0.variables"
printf '%s\\0' "$@" > "$0.call.new.$$"
/bin/mv "$0.call.new.$$" "$0.call.$$"
exit ${exitCode}
`

/** A desktop channel of this system, and the arguments of the calls of its program in any order. */
const desktop = Effect.fnUntraced(function* (platform: "linux" | "darwin" = "linux", exitCode = 0) {
  const directory = yield* folder
  const program = join(directory, platform === "linux" ? "notify-send" : "osascript")
  writeFileSync(program, standIn(exitCode))
  chmodSync(program, 0o700)
  const environment = { PATH: directory, DISPLAY: ":1", SMTP_PASSWORD: "hush", LANG: "C" }
  const found = yield* findDesktopProgram(environment, platform)
  if (found._tag === "Missing") return yield* Effect.die(found.reason)
  const channel: DesktopChannel = { name: "here", preset: "desktop", reminders: true, program: found.program }
  const calls = () =>
    readdirSync(directory)
      .filter((name) => /\.call\.\d+$/.test(name))
      .map((name) => readFileSync(join(directory, name), "utf8").split("\0").slice(0, -1))
  return { channel, calls, program }
})

it.effect("finds what the program is started with outside of the repository", () =>
  Effect.gen(function* () {
    const directory = yield* folder
    const tree = join(directory, "tree")
    for (const path of ["tree/.git", "tree/bin", "bin"]) mkdirSync(join(directory, path), { recursive: true })
    const program = join(directory, "bin", "notify-send")
    writeFileSync(program, "#!/usr/bin/env bash\necho notice\n", { mode: 0o700 })
    writeFileSync(join(tree, "bin", "bash"), "#!/bin/sh\necho planted\n", { mode: 0o700 })
    const environment: Record<string, string | undefined> = {
      PATH: `${join(tree, "bin")}:${join(directory, "bin")}:/usr/bin:/bin`
    }
    leaveTree(environment, tree)
    const found = yield* findDesktopProgram(environment, "linux")
    if (found._tag === "Missing") return assert.fail(found.reason)
    const { stdout } = yield* runProgram({
      program: found.program.path,
      args: [],
      environment: found.program.environment
    })
    assert.strictEqual(stdout, "notice\n")
  })
)

layer(world, { excludeTestServices: true, timeout: "5 minutes" })("notices on the desktop over JetStream", (it) => {
  it.effect("tell of a question, and of its answer", () =>
    Effect.gen(function* () {
      const { calls, channel } = yield* desktop()
      yield* startGate({ channels: [channel], origin: "https://reprise.example.org" })
      const id = newQuestion()
      yield* askAbout(id, { reason: hostile })
      yield* waitUntil(() => calls().length > 0)
      yield* drain
      yield* answer(id)
      yield* waitUntil(() => calls().some((args) => args.includes("--urgency=low")))
      yield* drain
      const texts = calls().map((args) => args.at(-1) ?? "")
      assert.isTrue(texts.some((text) => text.endsWith(`\nhttps://reprise.example.org/questions/${id.escalationId}`)))
      assert.isTrue(texts.some((text) => text.startsWith("ada answered 'fix' through cli.")))
    })
  )
})

describe("a notice on the desktop", () => {
  it.effect("is shown by notify-send as text: nothing in it is an option, markup, or a sequence", () =>
    Effect.gen(function* () {
      const { calls, channel } = yield* desktop()
      assert.deepStrictEqual(yield* send(channel, [raised], { origin: "https://r.example" }), { _tag: "Delivered" })
      const [args = []] = calls()
      assert.deepStrictEqual(args.slice(0, 4), [
        "--app-name=Reprise",
        "--urgency=normal",
        "--",
        "Reprise needs you: -plan <i>, phase 2"
      ])
      assert.lengthOf(args, 5)
      assert.match(args[4] ?? "", /^--help &lt;b&gt;one&lt;\/b&gt; &amp; \\\\033\[31m\\\\nA\ufffd\ufffd\nChoices: /)
      assert.match(args[4] ?? "", /\nhttps:\/\/r\.example\/questions\/r1-e1$/)
    })
  )

  it.effect("leads to the question by the console of this machine, or by the address that others use", () =>
    Effect.gen(function* () {
      const localOrigin = "http://127.0.0.1:7417"
      for (const [options, link] of [
        [{ localOrigin }, `${localOrigin}/questions/r1-e1`],
        [{ localOrigin, origin: "https://r.example" }, "https://r.example/questions/r1-e1"]
      ] as const) {
        const { calls, channel } = yield* desktop()
        yield* send(channel, [raised], options)
        assert.isTrue(calls()[0]?.at(-1)?.endsWith(`\n${link}`))
      }
    })
  )

  it.effect("is shown by osascript, whose script never changes", () =>
    Effect.gen(function* () {
      const { calls, channel } = yield* desktop("darwin")
      assert.deepStrictEqual(yield* send(channel, [raised]), { _tag: "Delivered" })
      const [args = []] = calls()
      assert.deepStrictEqual(args.slice(0, 6), [
        ...["-e", "on run notice"],
        ...["-e", "display notification (item 2 of notice) with title (item 1 of notice)"],
        ...["-e", "end run"]
      ])
      assert.strictEqual(args[6], "Reprise needs you: -plan <i>, phase 2")
      assert.match(args[7] ?? "", /^--help <b>one<\/b> & \\033\[31m\\nA\ufffd\ufffd\n/)
      assert.lengthOf(args, 8)
    })
  )

  it.effect("has the variables of the desktop, letters of every language, and no secret", () =>
    Effect.gen(function* () {
      const { channel, program } = yield* desktop()
      yield* send(channel, [raised])
      const variables = readFileSync(`${program}.variables`, "utf8")
      assert.match(variables, /DISPLAY=.?:1/)
      assert.match(variables, /LC_ALL=.?C\.UTF-8/)
      assert.notInclude(variables, "hush")
    })
  )

  it.effect("that the program does not show is tried again", () =>
    Effect.gen(function* () {
      const { channel, program } = yield* desktop("linux", 1)
      const outcome = yield* send(channel, [raised])
      assert.deepStrictEqual(outcome, {
        _tag: "Failed",
        reason: `${program} ended with 1, as it does where nobody has a desktop open`,
        maybeReceived: false
      })
      rmSync(program)
      assert.isFalse(existsSync(program))
      const gone = yield* send(channel, [raised])
      assert.deepStrictEqual(gone, { _tag: "Failed", reason: `${program} cannot be started`, maybeReceived: false })
    })
  )

  it("is short, and less urgent when nothing waits", () => {
    const long = noticeQuestion(question({ reason: "&".repeat(5_000) }), timeAt(0))
    const notice = desktopNotice([{ _tag: "Raised", question: long }])
    assert.isAtMost(notice.text.length, 800)
    assert.isFalse(notice.isMinor)
    assert.include(notifySendArguments(desktopNotice([answered])), "--urgency=low")
  })

  it.effect("is refused where the program is missing, with the next step", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const problem = yield* Effect.flip(resolveChannels({ here: { preset: "desktop" } }, { PATH: directory }))
      assert.match(problem.message, /channel 'here' cannot .*: there is no program (notify-send|osascript) on the PATH/)
      const missing = yield* findDesktopProgram({ PATH: directory }, "linux")
      assert.match(missing._tag === "Missing" ? missing.hint : "", /libnotify-bin/)
      const elsewhere = yield* findDesktopProgram({ PATH: directory }, "win32")
      assert.match(elsewhere._tag === "Missing" ? elsewhere.reason : "", /Linux and macOS/)
    })
  )
})
