import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { decodeScript, type ScriptInput } from "../src/index.ts"
import { type Played, ScriptPlayer } from "../src/player/ScriptPlayer.ts"
import { calls, claudeTools, request, result, says, user } from "./support/modelRequest.ts"

const player = (rules: ScriptInput["rules"]) =>
  Effect.map(decodeScript({ rules }), (script) => new ScriptPlayer(script))

const textOf = (played: Played) =>
  Result.isSuccess(played.outcome) ? played.outcome.success.text : `refused: ${played.outcome.failure.message}`
const toolsOf = (played: Played) =>
  Result.isSuccess(played.outcome) ? played.outcome.success.toolCalls.map(({ name, args }) => ({ name, args })) : []

const author = user("You are the author of phase 2.")
const hash = "0123456789abcdef0123456789abcdef01234567"

describe("ScriptPlayer", () => {
  it.effect("answers with the first rule that matches and has uses left", () =>
    Effect.gen(function* () {
      const play = yield* player([
        { name: "once", match: { role: "author" }, times: 1, reply: { text: "first" } },
        { name: "then", match: { role: "author" }, reply: { text: "later" } }
      ])
      assert.strictEqual(textOf(play.play(request([author]))), "first")
      assert.strictEqual(textOf(play.play(request([author, says("first"), user("more")]))), "later")
      assert.strictEqual(textOf(play.play(request([author], { session: "s2" }))), "later")
    })
  )

  it.effect("answers a repeated call with the same step, and counts no use", () =>
    Effect.gen(function* () {
      const play = yield* player([{ match: { role: "author" }, times: 1, reply: [{ bash: "true" }, { text: "end" }] }])
      const again = [author, says("half an ans")]
      assert.deepInclude(play.play(request([author])), { rule: "rule 0", step: 0 })
      assert.deepInclude(play.play(request([author])), { rule: "rule 0", step: 0 })
      assert.deepInclude(play.play(request(again)), { rule: "rule 0", step: 0 })
      const ran = [author, calls("bash"), result("[Tool execution was interrupted]")]
      assert.deepInclude(play.play(request(ran)), { rule: "rule 0", step: 1 })
      assert.deepInclude(play.play(request(ran)), { rule: "rule 0", step: 1 })
    })
  )

  it.effect("ends a turn whose last step calls a tool", () =>
    Effect.gen(function* () {
      const play = yield* player([{ reply: { bash: "true" } }])
      play.play(request([author]))
      assert.strictEqual(textOf(play.play(request([author, calls("bash"), result("")]))), "Done.")
    })
  )

  it.effect("ends a turn that is to end with its report with the words of the rule for reports, once", () =>
    Effect.gen(function* () {
      const play = yield* player([
        { name: "first", match: { kind: "report" }, times: 1, reply: { report: { result: "failed" } } },
        { name: "then", match: { kind: "report" }, reply: [{ bash: "git status" }, { report: {} }] },
        { match: { role: "author" }, reply: [{ bash: "true" }, { text: "I did it." }] }
      ])
      const work = user("You are the author of phase 2.\n\nEnd your last message with JSON: completedTasks …")
      const ran = [work, calls("bash"), result("")]
      const said = 'I did it.\n\n```json\n{\n  "result": "failed"\n}\n```'
      assert.deepStrictEqual(toolsOf(play.play(request([work]))).length, 1)
      assert.strictEqual(textOf(play.play(request(ran))), said)
      assert.strictEqual(textOf(play.play(request(ran))), said)
      // A rule that calls tools answers a prompt of its own.
      play.play(request([work], { session: "s2" }))
      assert.strictEqual(textOf(play.play(request(ran, { session: "s2" }))), "I did it.")
    })
  )

  it.effect("lets a rule for tool results take over a turn with its own steps", () =>
    Effect.gen(function* () {
      const play = yield* player([
        { match: { role: "author" }, reply: [{ bash: "make" }, { text: "unseen" }] },
        {
          name: "retry",
          match: { afterTool: true, lastMessage: "interrupted" },
          reply: [{ bash: "make again" }, { text: "made" }]
        }
      ])
      const first = [author, calls("bash"), result("[Tool execution was interrupted]")]
      play.play(request([author]))
      assert.deepInclude(play.play(request(first)), { rule: "retry", step: 0 })
      assert.deepInclude(play.play(request(first)), { rule: "retry", step: 0 })
      assert.strictEqual(textOf(play.play(request([...first, calls("bash"), result("ok")]))), "made")
    })
  )

  it.effect("fills in what tools returned in the same session", () =>
    Effect.gen(function* () {
      const play = yield* player([
        {
          match: { kind: "work" },
          reply: [{ bash: "x", capture: { name: "name=(\\w+)" } }, { text: "{{name}} at {{lastCommit}}" }]
        },
        { match: { kind: "report" }, reply: { report: { commit: "{{lastCommit}}", completedTasks: ["{{name}}"] } } }
      ])
      play.play(request([author]))
      const done = [author, calls("bash"), result(`name=ada\n${hash}`)]
      assert.strictEqual(textOf(play.play(request(done))), `ada at ${hash}`)
      const report = user("JSON with completedTasks")
      assert.include(textOf(play.play(request([...done, says(""), report]))), `"commit": "${hash}"`)
      const other = play.play(request([author, says(""), report], { session: "s2" }))
      assert.include(
        textOf(other),
        "refused: Scripted model: step 0 of rule 1 cannot be played: no value for {{lastCommit}}"
      )
    })
  )

  it.effect("fills in what was captured from the prompt", () =>
    Effect.gen(function* () {
      const play = yield* player([
        { match: { kind: "follow-up" }, captureUser: { seen: "commit \\((\\w+)\\)" }, reply: { text: "saw {{seen}}" } }
      ])
      assert.strictEqual(
        textOf(play.play(request([author, says(""), user("A new commit (abc) has been made")]))),
        "saw abc"
      )
    })
  )

  it.effect("keeps a report valid JSON, whatever is filled in", () =>
    Effect.gen(function* () {
      const play = yield* player([
        { captureUser: { said: "say: (.*)" }, reply: { text: "Here:", report: { items: [{ title: "{{said}}" }] } } }
      ])
      const text = textOf(play.play(request([user('say: "a" \\ b')])))
      const block = /^Here:\n\n```json\n([\s\S]*)\n```$/.exec(text)?.[1]
      assert.deepStrictEqual(JSON.parse(block ?? ""), { items: [{ title: '"a" \\ b' }] })
    })
  )

  it.effect("uses the client's names for tools and arguments", () =>
    Effect.gen(function* () {
      const play = yield* player([
        {
          reply: {
            write: { path: "a.txt", content: "1" },
            edit: { path: "/b.txt", oldText: "x", newText: "y" },
            bash: "ls"
          }
        }
      ])
      assert.deepStrictEqual(toolsOf(play.play(request([author]))), [
        { name: "write", args: { filePath: "a.txt", content: "1" } },
        { name: "edit", args: { filePath: "/b.txt", oldString: "x", newString: "y" } },
        { name: "bash", args: { command: "ls", description: "Runs bash" } }
      ])
      const system = "Environment\nWorking directory: /repo\n"
      assert.deepStrictEqual(toolsOf(play.play(request([author], { session: "c", tools: claudeTools, system }))), [
        { name: "Write", args: { file_path: "/repo/a.txt", content: "1" } },
        { name: "Edit", args: { file_path: "/b.txt", old_string: "x", new_string: "y" } },
        { name: "Bash", args: { command: "ls" } }
      ])
    })
  )

  it.effect.each([
    ["exec_command", "cmd"],
    ["shell_command", "command"],
    ["run_shell_command", "command"]
  ] as const)("runs a command with the tool %s where that is the client's shell", ([name, argument]) =>
    Effect.gen(function* () {
      const play = yield* player([{ reply: { bash: "ls" } }])
      const tools = [{ name, properties: [argument], required: [argument] }]
      assert.deepStrictEqual(toolsOf(play.play(request([author], { tools }))), [{ name, args: { [argument]: "ls" } }])
    })
  )

  it.effect("refuses to call a tool that the client does not offer", () =>
    Effect.gen(function* () {
      const play = yield* player([{ reply: { toolCalls: [{ tool: "webfetch", args: {} }] } }])
      assert.include(textOf(play.play(request([author]))), "tool webfetch is not offered (bash, write, edit, read)")
    })
  )

  it.effect("reports with the tool StructuredOutput when the client offers it", () =>
    Effect.gen(function* () {
      const play = yield* player([{ reply: { report: { readiness: "ready" } } }])
      const tools = [{ name: "StructuredOutput", properties: ["readiness"], required: [] }]
      assert.deepStrictEqual(toolsOf(play.play(request([author], { tools }))), [
        { name: "StructuredOutput", args: { readiness: "ready" } }
      ])
    })
  )

  it.effect("fails as often as a fault says, then answers", () =>
    Effect.gen(function* () {
      const play = yield* player([{ reply: { text: "ok", fault: { status: 429, times: 2 } } }])
      const faults = [1, 2, 3].map(() => {
        const { outcome } = play.play(request([author]))
        return Result.isSuccess(outcome) ? outcome.success.fault?.status : "refused"
      })
      assert.deepStrictEqual(faults, [429, 429, undefined])
    })
  )

  it.effect("counts the common prefix with the session's previous call as cached", () =>
    Effect.gen(function* () {
      const play = yield* player([{ reply: { text: "12345678" } }])
      const usageOf = (session: string, promptText: string) =>
        play.play(request([author], { session, promptText })).usage
      assert.deepStrictEqual(usageOf("s1", "a".repeat(400)), { inputTokens: 100, cachedTokens: 0, outputTokens: 2 })
      assert.deepInclude(usageOf("s1", "a".repeat(400) + "b".repeat(40)), { inputTokens: 110, cachedTokens: 100 })
      assert.deepInclude(usageOf("s2", "a".repeat(400)), { inputTokens: 100, cachedTokens: 0 })
    })
  )

  it.effect("describes a call that no rule matches, and answers a title request without a rule", () =>
    Effect.gen(function* () {
      const play = yield* player([{ match: { phase: [1, 3] }, reply: { text: "x" } }])
      assert.include(textOf(play.play(request([author]))), "no rule matches this call: role author, kind work, phase 2")
      const title = play.play(request([user("You are the author of phase 1")], { system: "Make a title", tools: [] }))
      assert.strictEqual(title.rule, "default title")
    })
  )

  it.effect("uses a rule with `after` only once the named rule was used", () =>
    Effect.gen(function* () {
      const play = yield* player([
        { match: { after: "first" }, reply: { text: "second" } },
        { name: "first", reply: { text: "first" } }
      ])
      assert.strictEqual(textOf(play.play(request([author]))), "first")
      assert.strictEqual(textOf(play.play(request([author, says("first"), user("more")]))), "second")
    })
  )
})
