/** The simulation itself: the same seed is the same story, nothing else than the seed decides, and a failure shrinks. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { bugs } from "./bugs.ts"
import { randomOf } from "./machine/Random.ts"
import { failureOf } from "./shrink.ts"
import { simulate } from "./simulate.ts"
import { storyText } from "./storyText.ts"
import type { Fault } from "./world/faults.ts"
import { faultsOf } from "./world/faults.ts"
import { worldOf } from "./world/World.ts"

/** Stories in which something was wrong once, with the faults that they needed. */
const told: Readonly<Record<string, readonly [number, ReadonlyArray<Fault>]>> = {
  "an agent asks again after a restart of its runtime, and two replicas decide the reports of both questions in the wrong order":
    [
      32623,
      [
        { _tag: "RuntimeCrash", step: 1246, downMs: 100 },
        { _tag: "Reviewer", prompt: 0, does: "asks-question" }
      ]
    ],
  "a human works in a session that no list had when its watch began, since its process died before it wrote the view": [
    24523,
    [
      { _tag: "Kill", service: "orchestrator", call: 37, when: "before", downMs: 2_000 },
      { _tag: "AnswerLost", service: "orchestrator", call: 42 },
      { _tag: "Kill", service: "session-manager", call: 81, when: "before", downMs: 60_000 },
      { _tag: "Kill", service: "session-manager", call: 124, when: "after", downMs: 10_000 },
      { _tag: "RuntimeCrash", step: 427, downMs: 90_000 },
      { _tag: "Human", step: 1472, does: "attach-answer" },
      { _tag: "KillAsked", service: "session-manager", question: 1, downMs: 700_000 }
    ]
  ],
  "a human works in a session whose list says that its turn is open, since its process died before it wrote the view": [
    20086,
    [
      { _tag: "Kill", service: "session-manager", call: 29, when: "before", downMs: 10_000 },
      { _tag: "Kill", service: "session-manager", call: 57, when: "before", downMs: 60_000 },
      { _tag: "Human", step: 455, does: "attach-answer" }
    ]
  ],
  "a human works in a session while its watch is down, and the broker answers the next watch late": [
    20,
    [
      { _tag: "Human", step: 0, does: "attach-answer" },
      { _tag: "Slow", service: "session-manager", call: 63, ms: 20_000 },
      { _tag: "Author", prompt: 0, does: "architecture" },
      { _tag: "KillAsked", service: "session-manager", question: 0, downMs: 700_000 }
    ]
  ],
  "conversations are to be archived while the process that shows their sessions hangs for a quarter of an hour": [
    1080,
    [
      { _tag: "Freeze", service: "session-manager", step: 3110, ms: 900_000 },
      { _tag: "Author", prompt: 2, does: "needs-human" },
      { _tag: "KillAsked", service: "session-manager", question: 0, downMs: 700_000 },
      { _tag: "Author", prompt: 1, does: "no-report" }
    ]
  ],
  "an answer to an agent's question cannot be delivered, since its runtime is away for longer than one waits for it": [
    1360,
    [
      { _tag: "KillAt", service: "all", step: 1505, downMs: 60_000 },
      { _tag: "Kill", service: "session-manager", call: 154, when: "before", downMs: 50 },
      { _tag: "Answer", question: 2, how: "late" },
      { _tag: "Reviewer", prompt: 0, does: "asks-question" },
      { _tag: "RuntimeCrash", step: 2270, downMs: 90_000 }
    ]
  ],
  "a run is aborted, and its release passes the request to prepare its workspace, which was in the hands of a killed process":
    [
      5806,
      [
        { _tag: "AnswerLost", service: "reviewer", call: 15 },
        { _tag: "Kill", service: "session-manager", call: 17, when: "before", downMs: 60_000 },
        { _tag: "KillAt", service: "all", step: 201, downMs: 10_000 },
        { _tag: "Human", step: 371, does: "abort" }
      ]
    ],
  "git fails while a working tree is prepared whose lease is taken": [30044, [{ _tag: "GitFails", call: 6, times: 1 }]],
  "the process of a workspace's last decision is killed before it stores the view, and a replica has an earlier one": [
    5066,
    [
      { _tag: "Late", service: "orchestrator", delivery: 5, ms: 20_000 },
      { _tag: "AnswerLost", service: "session-manager", call: 21 },
      { _tag: "Author", prompt: 0, does: "rate-limited" },
      { _tag: "Kill", service: "workspace", call: 118, when: "before", downMs: 50 }
    ]
  ],
  "a process is killed while it handles the report of a human's work, which is read only when they are idle again": [
    649,
    [
      { _tag: "KillAsked", service: "session-manager", question: 0, downMs: 50 },
      { _tag: "Kill", service: "session-manager", call: 103, when: "before", downMs: 50 },
      { _tag: "Kill", service: "session-manager", call: 174, when: "before", downMs: 10_000 },
      { _tag: "Author", prompt: 0, does: "reports-failure" },
      { _tag: "Kill", service: "orchestrator", call: 23, when: "after", downMs: 50 },
      { _tag: "KillAt", service: "orchestrator", step: 2737, downMs: 60_000 },
      { _tag: "Human", step: 1276, does: "attach-answer" }
    ]
  ],
  "everything is killed while a human works in a session that has ended, and their agent goes on": [
    932,
    [
      { _tag: "KillAt", service: "all", step: 1330, downMs: 2_000 },
      { _tag: "Human", step: 836, does: "attach" }
    ]
  ],
  "the gate's clock is an hour ahead when it decides, and right when it is started again after twelve minutes": [
    2026,
    [
      { _tag: "KillAt", service: "all", step: 629, downMs: 700_000 },
      { _tag: "ClockJump", service: "gate", step: 251, ms: 3_600_000 }
    ]
  ],
  "a human works in a session whose turn ended while the watch looked it up": [
    1791,
    [
      { _tag: "KillAsked", service: "session-manager", question: 0, downMs: 60_000 },
      { _tag: "KillAsked", service: "session-manager", question: 1, downMs: 700_000 },
      { _tag: "Reviewer", prompt: 0, does: "needs-decision" },
      { _tag: "Human", step: 1398, does: "attach-answer" }
    ]
  ],
  "a human works in a session whose turn ended after the watch looked it up and before it was told of events": [
    33,
    [
      { _tag: "KillAt", service: "session-manager", step: 339, downMs: 2_000 },
      { _tag: "Human", step: 539, does: "attach-answer" },
      { _tag: "Slow", service: "session-manager", call: 42, ms: 20_000 },
      { _tag: "Slow", service: "session-manager", call: 51, ms: 20_000 }
    ]
  ],
  "a workspace dies after it took a lease and before it said so, and git fails from then on": [
    101126,
    [
      { _tag: "GitFails", call: 9, times: 80 },
      { _tag: "Kill", service: "workspace", call: 22, when: "before", downMs: 60_000 }
    ]
  ],
  "a workspace hangs while it prepares, and a late attempt takes the lease after the run was aborted and released": [
    133224,
    [
      { _tag: "Freeze", service: "workspace", step: 125, ms: 2_000 },
      { _tag: "AnswerLost", service: "workspace", call: 79 },
      { _tag: "Human", step: 153, does: "abort" },
      { _tag: "Freeze", service: "workspace", step: 284, ms: 900_000 }
    ]
  ],
  "a run is paused at once while the service that is to start its turn is dead, and the agent asks something": [
    145808,
    [
      { _tag: "Kill", service: "session-manager", call: 11, when: "after", downMs: 50 },
      { _tag: "Human", step: 244, does: "pause-now" },
      { _tag: "Author", prompt: 0, does: "asks-question" }
    ]
  ],
  "a session is archived ten minutes after its run has ended, since its agent asks on after a crash of its runtime": [
    192118,
    [
      { _tag: "Slow", service: "orchestrator", call: 106, ms: 20_000 },
      { _tag: "Kill", service: "session-manager", call: 139, when: "after", downMs: 2_000 },
      { _tag: "Author", prompt: 1, does: "asks-question" },
      { _tag: "RuntimeCrash", step: 1_833, downMs: 90_000 },
      { _tag: "Kill", service: "workspace", call: 75, when: "after", downMs: 60_000 },
      { _tag: "Freeze", service: "session-manager", step: 949, ms: 900_000 }
    ]
  ],
  "a human works in a session after one kill at such a moment": [
    1,
    [
      { _tag: "Kill", service: "session-manager", call: 32, when: "before", downMs: 60_000 },
      { _tag: "Human", step: 1, does: "attach-answer" }
    ]
  ]
}

describe("the simulation", () => {
  it("tells the same story for the same seed, message by message", () => {
    for (const seed of [11, 17, 36]) {
      const [one, other] = [simulate(worldOf(seed)), simulate(worldOf(seed))]
      assert.strictEqual(one.hash, other.hash)
      assert.strictEqual(storyText(one), storyText(other))
    }
  })

  it("asks neither the clock nor chance of the machine that it runs on", () => {
    const { now } = Date
    const { random } = Math
    const { randomUUID } = globalThis.crypto
    const never = (): never => {
      throw new Error("A service asked the machine.")
    }
    simulate(worldOf(11))
    Object.assign(Date, { now: never })
    Object.assign(globalThis.crypto, { randomUUID: never })
    try {
      assert.strictEqual(simulate(worldOf(11)).unrest, undefined)
    } finally {
      Object.assign(Date, { now })
      Object.assign(Math, { random })
      Object.assign(globalThis.crypto, { randomUUID })
    }
  })

  it("starts no program, opens nothing and sets no timer on the machine that it runs on", () => {
    const before = process.getActiveResourcesInfo()
    simulate(worldOf(11, []))
    assert.deepStrictEqual(process.getActiveResourcesInfo(), before)
  })

  it("lets a story go from memory once it is over, though no process of it that was killed ended in order", async () => {
    setFlagsFromString("--expose-gc")
    const collect: () => void = runInNewContext("gc")
    const records = Array.from({ length: 8 }, (_, n) => new WeakRef(simulate(worldOf(100 + n)).record))
    // What a WeakRef was made of stays until the end of the turn.
    await new Promise(setImmediate)
    collect()
    // What ran last may still be on a stack that the collector reads with care.
    assert.isBelow(records.filter((record) => record.deref() !== undefined).length, 4)
  })

  it("finds a watch that is not taken up after a restart, with the restart and a human who works by hand", () => {
    const faults = [
      { _tag: "Human", step: 1, does: "attach-answer" },
      { _tag: "KillAsked", service: "session-manager", question: 0, downMs: 50 }
    ] as const
    const bug = bugs["the watch over sessions is not taken up after a restart"]
    const checks = failureOf(worldOf(1, faults), bug)?.violations.map(({ check }) => check) ?? []
    assert.include(checks, "humansAreNoticed")
    assert.isUndefined(failureOf(worldOf(1, faults)))
  })

  it("draws the faults apart from the rest of the world, so that a story with fewer of them stays the same world", () => {
    const [whole, calm] = [worldOf(42), worldOf(42, [])]
    assert.deepStrictEqual({ ...whole, faults: [] }, calm)
    assert.isAbove(Array.from({ length: 50 }, (_, seed) => faultsOf(randomOf(seed)).length).filter(Boolean).length, 20)
  })

  for (const [story, [seed, faults]] of Object.entries(told)) {
    it(`finds nothing wrong any more when ${story}`, () => {
      assert.deepStrictEqual(failureOf(worldOf(seed, faults))?.violations ?? [], [])
    })
  }

  it("finds nothing wrong with stories in which nothing goes wrong", () => {
    for (let seed = 0; seed < 12; seed++) assert.strictEqual(failureOf(worldOf(seed, [])), undefined)
  })

  it("finds nothing wrong with stories full of faults", () => {
    for (let seed = 100; seed < 120; seed++)
      assert.deepStrictEqual(failureOf(worldOf(seed))?.violations ?? [], [], `seed ${seed}`)
  })
})
