import { simulate } from "./simulate.ts"
import { violationsOf } from "./checks/all.ts"
import { worldOf } from "./world/World.ts"
const [from = "0", count = "1", plain] = process.argv.slice(2)
const found = new Map<string, Array<string>>()
const cpu = process.cpuUsage()
let steps = 0
for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
  try {
    const story = simulate(plain === "plain" ? worldOf(seed, []) : worldOf(seed))
    steps += story.steps
    for (const { check, detail } of violationsOf(story)) found.set(check, [...(found.get(check) ?? []), `${seed}: ${detail}`])
  } catch (e) { found.set("THROWN", [...(found.get("THROWN") ?? []), `${seed}: ${(e as Error).stack}`]) }
}
const c = process.cpuUsage(cpu)
for (const [check, all] of found) { console.log(check, all.length, new Set(all.map(a=>a.split(":")[0])).size); for (const one of all.slice(0, 5)) console.log("   ", one.slice(0, 500)) }
console.log({ cpuMs: (c.user + c.system) / 1000 / Number(count), steps: steps / Number(count) })
