// @module-tag long
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { startMailServer, startReceiver } from "@reprise/testing"
import { Effect } from "effect"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const secret = "a secret that no output may hold"

const configFor = (url: string, more = ""): string => `permissions = "all"

[web]
origin = "https://reprise.example.org"

[notify.channels.hook]
preset = "webhook"
url = "${url}/hook"
secret = "env:HOOK_SECRET"
${more}`

const environment = () => ({ HOOK_SECRET: secret })

const kindsOf = (requests: ReadonlyArray<{ readonly body: string }>) =>
  requests.map(({ body }) => (JSON.parse(body) as { readonly kind: string }).kind)

describe("notifications", () => {
  it.live("tell a webhook of a run's question, and of its answer, and hold no secret anywhere", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url), environment })
      const up = yield* world.start("up")
      yield* up.waitFor(/Serving/)
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 4)
      yield* waitUntil(Effect.sync(() => (receiver.requests.length > 0 ? true : undefined)))
      const [question] = yield* world.questions
      const [raised] = receiver.requests.map(({ body }) => JSON.parse(body))
      assert.containSubset(raised, {
        kind: "raised",
        question: { escalationId: question?.escalationId, reason: question?.reason },
        link: `https://reprise.example.org/questions/${question?.escalationId}`
      })
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "c", "--guidance", "Blue")
      yield* up.waitFor(/Run completed/)
      yield* waitUntil(Effect.sync(() => (receiver.requests.length > 1 ? true : undefined)))
      assert.deepStrictEqual(kindsOf(receiver.requests), ["raised", "answered"])
      const log = yield* world.reprise("logs", "latest")
      assert.notInclude(`${log.stdout}${up.stdout}${up.stderr}`, secret)
    })
  )

  it.live("are sent before a run that nobody watches ends at its question", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url), environment })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 4)
      assert.deepStrictEqual(kindsOf(receiver.requests), ["raised"])
      const [question] = yield* world.questions
      assert.notProperty(question, "notNotified")
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "c", "--guidance", "Blue")
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 0)
      assert.deepStrictEqual(kindsOf(receiver.requests), ["raised", "answered"])
    })
  )

  it.live("that are refused hold up nothing, and the doctor says which channel was not told of which question", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 404 }))
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url), environment })
      const run = yield* world.reprise("run", "PLAN.md", "--no-input")
      assert.strictEqual(run.code, 4, run.stderr)
      const [question] = yield* world.questions
      assert.deepStrictEqual(question?.notNotified, ["hook"])
      const expected = `Telling channel 'hook' that question ${question?.escalationId} was raised failed: it answered 404`
      const doctor = yield* world.reprise("doctor")
      assert.include(doctor.stdout.replace(/[\s│]+/g, " "), expected)
      const letters = yield* world.reprise("dead-letters", "show", "1")
      assert.include(letters.stdout, expected)
      assert.notInclude(`${doctor.stdout}${letters.stdout}`, receiver.url)
      assert.lengthOf(new Set(receiver.requests.map(({ headers }) => headers["reprise-delivery"])), 1)
    })
  )

  it.live("reach the receiver after the process that should send them was killed", () =>
    Effect.gen(function* () {
      let isUp = false
      const receiver = yield* startReceiver(() => ({ status: isUp ? 200 : 503 }))
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url), environment })
      // A port of this machine was another program's before, and somebody may still call that.
      const hooks = () => receiver.requests.filter(({ path }) => path === "/hook")
      const first = yield* world.start("up")
      yield* first.waitFor(/Serving/)
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 4)
      yield* waitUntil(Effect.sync(() => (hooks().length > 0 ? true : undefined)))
      yield* first.kill("SIGKILL")
      isUp = true
      const refused = hooks().length
      yield* world.start("up")
      yield* waitUntil(Effect.sync(() => (hooks().length > refused ? true : undefined)))
      const ids = hooks().map(({ headers }) => headers["reprise-delivery"])
      assert.strictEqual(new Set(ids).size, 1, `${ids}`)
      assert.isAbove(ids.length, refused)
    })
  )

  it.live("are tried by 'notify test', which says what happened and names what is missing", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(({ path }) => ({ status: path === "/hook" ? 200 : 403 }))
      const more = `\n[notify.channels.phone]\npreset = "ntfy"\nurl = "${receiver.url}/topic"\n`
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url, more), environment })
      const both = yield* world.reprise("notify", "test")
      assert.strictEqual(both.code, 3, both.stderr)
      assert.match(both.stdout, /hook.*webhook.*delivered.*\d+ ms/)
      assert.match(both.stdout, /phone.*ntfy.*not delivered: it answered 403/)
      const one = yield* world.reprise("notify", "test", "hook", "--json")
      assert.strictEqual(one.code, 0, one.stderr)
      assert.containSubset(JSON.parse(one.stdout), {
        ok: true,
        data: [{ channel: "hook", preset: "webhook", delivered: true }]
      })
      assert.deepStrictEqual(kindsOf(receiver.requests.filter(({ path }) => path === "/hook")), ["test", "test"])
      const unknown = yield* world.reprise("notify", "test", "pigeon")
      assert.strictEqual(unknown.code, 2)
      assert.match(unknown.stderr, /no channel 'pigeon'.*\n.*hook, phone/)

      const withoutSecret = yield* world.repriseIn({ environment: { HOOK_SECRET: "" } }, "run", "PLAN.md", "--no-input")
      assert.strictEqual(withoutSecret.code, 3, withoutSecret.stdout)
      assert.match(withoutSecret.stderr, /secret of notification channel 'hook' is missing: HOOK_SECRET is not set/)
      const explained = yield* world.reprise("config", "explain")
      assert.match(explained.stdout.replace(/\s+/g, " "), /notify\.channels/)
    })
  )

  it.live("reach people by e-mail and on the desktop of this machine, and hold no secret anywhere", () =>
    Effect.gen(function* () {
      const server = yield* startMailServer({ login: { user: "ada", password: secret } })
      const channels = `permissions = "all"
[notify.channels.mail]
preset = "email"
url = "smtp://127.0.0.1:${server.port}"
user = "ada"
password = "env:HOOK_SECRET"
from = "reprise@example.org"
to = ["ada@example.org"]
[notify.channels.here]
preset = "desktop"
`
      const world = yield* makeWorld({ ...oneQuestion, config: channels, environment })
      const programs = join(world.root, "..", "programs")
      mkdirSync(programs)
      for (const name of ["notify-send", "osascript"]) {
        writeFileSync(join(programs, name), '#!/bin/sh\nprintf "%s\\n" "$@" >> "$0.calls"\nexport -p >> "$0.calls"\n')
        chmodSync(join(programs, name), 0o700)
      }
      const withPrograms = { environment: { PATH: `${programs}:${world.environment["PATH"]}` } }
      const tested = yield* world.repriseIn(withPrograms, "notify", "test")
      assert.strictEqual(tested.code, 0, `${tested.stdout}${tested.stderr}`)
      assert.match(tested.stdout, /mail.*email.*delivered.*\d+ ms/)
      assert.match(tested.stdout, /here.*desktop.*delivered.*\d+ ms/)
      const run = yield* world.repriseIn(withPrograms, "run", "PLAN.md", "--no-input")
      assert.strictEqual(run.code, 4, run.stderr)
      assert.deepStrictEqual(
        new Set(server.mails.map(({ headers }) => headers["subject"])),
        new Set(["Reprise reaches this channel", "The author needs you: A plan, phase 1 (One)"])
      )
      const program = join(programs, process.platform === "darwin" ? "osascript" : "notify-send")
      const calls = readFileSync(`${program}.calls`, "utf8")
      assert.match(calls, /Reprise reaches this channel[\s\S]*Reprise needs you:/)
      const log = yield* world.reprise("logs", "latest")
      assert.notInclude(`${calls}${log.stdout}${run.stdout}${run.stderr}${tested.stdout}`, secret)
    })
  )

  it.live("on the desktop are refused without its program, and where a broker is shared", () =>
    Effect.gen(function* () {
      const config = '[notify.channels.here]\npreset = "desktop"\n'
      const world = yield* makeWorld({ ...oneQuestion, config })
      const programs = join(world.root, "..", "programs")
      mkdirSync(programs)
      symlinkSync(execFileSync("which", ["git"], { encoding: "utf8" }).trim(), join(programs, "git"))
      const without = yield* world.repriseIn({ environment: { PATH: programs } }, "notify", "test")
      assert.strictEqual(without.code, 3, without.stdout)
      assert.match(without.stderr, /'here' cannot show .* no program (notify-send|osascript)/)
      const nats = { REPRISE_NATS_URL: "nats://127.0.0.1:9" }
      const channels = { REPRISE_NOTIFY_CHANNELS: '{"here":{"preset":"desktop"}}' }
      for (const command of [
        ["serve", "gate"],
        ["notify", "test"]
      ]) {
        const refused = yield* world.repriseIn({ environment: { ...nats, ...channels } }, ...command)
        assert.strictEqual(refused.code, 3, refused.stdout)
        assert.match(
          refused.stderr.replace(/\s+/g, " "),
          /'here' shows notices on the desktop .* that may be any machine/
        )
      }
    })
  )

  it.live("have no secret that was written into the settings by mistake quoted", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ ...oneQuestion, config: "" })
      const hook = `[notify.channels.hook]\npreset = "webhook"\nurl = "https://a.example"\nsecret = "${secret}"\n`
      writeFileSync(join(world.root, "reprise.toml"), hook)
      for (const command of [["config", "explain"], ["notify", "test"], ["doctor"]]) {
        const ended = yield* world.reprise(...command)
        assert.strictEqual(ended.code, 3, ended.stdout)
        assert.include(`${ended.stdout}${ended.stderr}`.replace(/[\s│]+/g, " "), "Expected env:NAME or file:/path")
        assert.notInclude(`${ended.stdout}${ended.stderr}`, secret)
      }
    })
  )

  it.live("go nowhere before their setting is trusted", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      const world = yield* makeWorld({ ...oneQuestion, environment })
      const setting = {
        REPRISE_NOTIFY_CHANNELS: JSON.stringify({ spy: { preset: "ntfy", url: `${receiver.url}/spy` } })
      }
      // A variable is the user's own word; the file of a repository is somebody's.
      assert.strictEqual((yield* world.repriseIn({ environment: setting }, "notify", "test")).code, 0)
      writeFileSync(
        join(world.root, "reprise.toml"),
        `permissions = "all"\n[notify.channels]\nspy = { preset = "ntfy", url = "${receiver.url}/other" }\n`
      )
      for (const command of [["notify", "test"], ["up"], ["run", "PLAN.md", "--no-input"]]) {
        const refused = yield* world.reprise(...command)
        assert.strictEqual(refused.code, 3, refused.stdout)
        assert.match(
          refused.stderr,
          /not trusted on this machine yet:\nreprise\.toml, notify\.channels:\n {2}spy: ntfy to/
        )
      }
      assert.deepStrictEqual(
        receiver.requests.map(({ body }) => (JSON.parse(body) as { readonly topic: string }).topic),
        ["spy"]
      )
    })
  )
})
