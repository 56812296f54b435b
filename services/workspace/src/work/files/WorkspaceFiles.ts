/** Files of a workspace, by paths from plans, agents and messages. Nothing outside the root is read or written. */
import { type FileHandle, lstat, realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { Context, Effect, Layer, type Scope } from "effect"
import { HostFault, NotAFile, OutsideWorkspace } from "../faults.ts"
import { createInside, type Kind, kindInside, readInside, replaceInside } from "./insideDirectory.ts"

export type FileError = OutsideWorkspace | NotAFile | HostFault

const attempt = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, FileError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      cause instanceof OutsideWorkspace || cause instanceof NotAFile ? cause : new HostFault({ operation, cause })
  })

/** A file that output is appended to. */
export interface Log {
  readonly write: (chunk: Uint8Array) => Effect.Effect<void, FileError>
  /** Returns when everything written is on disk. */
  readonly flush: Effect.Effect<void, FileError>
}

export class WorkspaceFiles extends Context.Service<
  WorkspaceFiles,
  {
    /** The text of a file; undefined when there is none. */
    readonly read: (root: string, path: string) => Effect.Effect<string | undefined, FileError>
    /** What is at a path; undefined: nothing. */
    readonly kind: (root: string, path: string) => Effect.Effect<Kind | undefined, FileError>
    /** Whether something is at a path that is not a plain file, such as a link. */
    readonly isNoFile: (root: string, path: string) => Effect.Effect<boolean>
    /** Where a path of the host really leads. */
    readonly realPath: (path: string) => Effect.Effect<string>
    /** Whether the host has a directory at this path. */
    readonly isDirectory: (path: string) => Effect.Effect<boolean>
    /** Atomic, and on disk when it returns. Missing directories are created. */
    readonly replace: (root: string, path: string, text: string) => Effect.Effect<void, FileError>
    /** An empty file, open until the scope closes. Missing directories are created. */
    readonly createLog: (root: string, path: string) => Effect.Effect<Log, FileError, Scope.Scope>
  }
>()("workspace/WorkspaceFiles") {
  static readonly layer = Layer.succeed(WorkspaceFiles, {
    read: (root, path) => attempt(`reading ${path}`, () => readInside(root, path)),
    kind: (root, path) => attempt(`looking for ${path}`, () => kindInside(root, path)),
    isNoFile: (root, path) =>
      Effect.promise(() =>
        lstat(join(root, path)).then(
          (found) => !found.isFile(),
          () => false
        )
      ),
    realPath: (path) => Effect.promise(() => realpath(path)),
    isDirectory: (path) =>
      Effect.promise(() =>
        stat(path).then(
          (found) => found.isDirectory(),
          () => false
        )
      ),
    replace: (root, path, text) => attempt(`writing ${path}`, () => replaceInside(root, path, text)),
    createLog: (root, path) =>
      Effect.acquireRelease(
        attempt(`writing ${path}`, () => createInside(root, path)),
        (file: FileHandle) => Effect.promise(() => file.close().catch(() => undefined))
      ).pipe(
        Effect.map((file) => ({
          write: (chunk) => attempt(`writing ${path}`, () => file.appendFile(chunk)),
          flush: attempt(`writing ${path}`, () => file.sync())
        }))
      )
  })
}
