export interface SignInSearch {
  /** Where to go afterwards; a path of this console. */
  next?: string;
  /** True when a session ended while the console was open. */
  ended?: true;
}

export function parseSignInSearch(search: Record<string, unknown>): SignInSearch {
  const { next, ended } = search;
  return { ...(typeof next === 'string' && { next }), ...(ended === true && { ended }) };
}
