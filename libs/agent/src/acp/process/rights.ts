/**
 * What a process of an agent may do. A sandbox is made for one workspace and one role, so an agent that runs inside has a
 * process for each of them that its sessions need; all that run outside share one. Pure.
 */
import type { PermissionMode, Role } from "@reprise/protocol"
import type { SandboxShape } from "@reprise/sandbox"

export type Rights =
  | { readonly _tag: "outside" }
  | { readonly _tag: "inside"; readonly directory: string; readonly role: Role }

export interface Whose {
  readonly directory: string
  readonly permissions: PermissionMode
  /** Absent: not known, so as a reviewer. */
  readonly role?: Role | undefined
}

const outside: Rights = { _tag: "outside" }

export const rightsOf = (
  { agentProgram, covers }: Pick<SandboxShape, "agentProgram" | "covers">,
  { directory, permissions, role = "reviewer" }: Whose
): Rights => (agentProgram !== undefined && covers(permissions) ? { _tag: "inside", directory, role } : outside)

export const keyOf = (rights: Rights): string =>
  rights._tag === "outside" ? "outside" : `${rights.role} ${rights.directory}`

/** How long an agent inside may have nothing to do until it is ended: each holds a program in memory. */
export const restMs = 10 * 60_000

export interface Resting {
  readonly rights: Rights
  readonly usedAtMs: number
  readonly isAtWork: boolean
  /** It tells its sessions again, so they outlive it. */
  readonly canLoad: boolean
}

export const mayEnd = ({ canLoad, isAtWork, rights, usedAtMs }: Resting, nowMs: number): boolean =>
  rights._tag === "inside" && canLoad && !isAtWork && nowMs - usedAtMs >= restMs
