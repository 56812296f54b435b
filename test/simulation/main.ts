import { simulate } from "./simulate.ts"
import { worldOf } from "./world/World.ts"

const [from = "0", count = "1", plain] = process.argv.slice(2)
const t = performance.now()
let steps = 0,
  virtual = 0,
  stored = 0
const ends = new Map<string, number>()
for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
  const world = plain === "plain" ? worldOf(seed, []) : worldOf(seed)
  const story = simulate(world)
  steps += story.steps
  virtual += story.elapsedMs
  stored += story.record.length
  for (const s of story.progress.states.values()) {
    const k = s._tag === "Ended" ? s.how : s._tag
    ends.set(k, (ends.get(k) ?? 0) + 1)
  }
  if (story.unrest) {
    ends.set("UNREST", (ends.get("UNREST") ?? 0) + 1)
    if (Number(count) > 1) console.log(seed, story.unrest, JSON.stringify([...story.progress.states]))
  }
  if (Number(count) === 1) {
    for (const m of story.record)
      if (m.kind !== "journal") console.log(m.atMs, m.kind, m.subject, m.type, m.body.slice(0, 160))
    console.log(story.unrest, [...story.progress.states], story.happened, story.steps, story.hash)
  }
}
const s = (performance.now() - t) / 1000
console.log({
  perSecond: Number(count) / s,
  steps: steps / Number(count),
  virtualMin: virtual / Number(count) / 60000,
  stored: stored / Number(count),
  ends: [...ends]
})
