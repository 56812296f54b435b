/** Commands that make repositories inside of a workspace. */
export const identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a"
export const make = (name: string) => `${identity}; git init -q ${name} && git -C ${name} commit -q --allow-empty -m x`

/** Whoever looks at its tree runs a program. */
export const evil = (name: string) => `${make(name)}; git -C ${name} config core.fsmonitor ./run`
