/** What a repository brings along: the files that git tracks. */
import { runGit } from "@reprise/process"
import { Effect } from "effect"
import type { Project } from "./Project.ts"

/** Whatever the case of its letters: some file systems find `Reprise.toml` under `reprise.toml`. */
const anyCase = ["--no-literal-pathspecs", "--icase-pathspecs"]

/**
 * Whether git tracks a file, or anything in a folder, of a project. True as well if git cannot tell: what might come
 * from others is treated as theirs. The path has no characters that git reads as a pattern.
 */
export const isTracked = ({ root }: Project, path: string): Effect.Effect<boolean> =>
  runGit(root, [...anyCase, "ls-files", "-z", "--", path]).pipe(
    Effect.map(({ exitCode, stdout }) => exitCode !== 0 || stdout !== ""),
    Effect.orElseSucceed(() => true)
  )
