/** The end of every template for work. */
export const closing = `Commit your work before you stop, in one commit or more, and leave no uncommitted change behind.
If you cannot go on without a human, stop and say clearly why.
Afterwards you will be asked for a report of what you did; do not write one now.`
