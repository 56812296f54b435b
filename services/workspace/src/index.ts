export { actors, layer, workers } from "./service.ts"
export { Git } from "./work/git/Git.ts"
export { uncommittedPaths } from "./work/git/uncommittedPaths.ts"
export { listWorktrees, removeWorktree, worktreeState } from "./work/git/worktrees.ts"
