/** How much Claude is to think: the variants of its models, from little to much. */
export const efforts = ["low", "medium", "high", "xhigh", "max"] as const
