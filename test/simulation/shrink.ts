/** Finds the faults that a violation needs: the story is told again with fewer of them, as long as something is wrong. */

import { violationsOf } from "./checks/all.ts"
import type { Violation } from "./checks/Check.ts"
import { historiesOf } from "./checks/histories.ts"
import { type Bug, type Story, simulate } from "./simulate.ts"
import type { Fault } from "./world/faults.ts"
import { seedsFrom, type World, worldOf } from "./world/World.ts"

export interface Failure {
  readonly world: World
  readonly story: Story
  readonly violations: ReadonlyArray<Violation>
}

/** Undefined: nothing is wrong. */
export const failureOf = (world: World, bug?: Bug): Failure | undefined => {
  const story = simulate(world, bug)
  const violations = violationsOf(story, historiesOf(story))
  return violations.length === 0 ? undefined : { world, story, violations }
}

/** Leaves out the first half, the second half, then each fault by itself, and again, until all that are left are needed. */
export const shrink = (failure: Failure, bug?: Bug): Failure => {
  let smallest = failure
  const isTold = (faults: ReadonlyArray<Fault>): boolean => {
    const told = failureOf(worldOf(failure.world.seed, faults), bug)
    if (told !== undefined) smallest = told
    return told !== undefined
  }
  const half = Math.ceil(failure.world.faults.length / 2)
  for (const faults of [[], failure.world.faults.slice(0, half), failure.world.faults.slice(half)]) {
    if (faults.length < smallest.world.faults.length && isTold(faults)) break
  }
  for (let at = 0; at < smallest.world.faults.length; ) {
    const { faults } = smallest.world
    if (!isTold(faults.filter((_, index) => index !== at))) at += 1
  }
  return smallest
}

/** The first story with something wrong, from a seed on. */
export const findFailure = (from: number, count: number, bug?: Bug): Failure | undefined => {
  for (const seed of seedsFrom(from, count)) {
    const failure = failureOf(worldOf(seed), bug)
    if (failure !== undefined) return failure
  }
  return undefined
}
