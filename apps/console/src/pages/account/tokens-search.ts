export interface TokensSearch {
  /** True while the dialog that makes a token is open, so that a link can open it. */
  create?: true;
}

export function parseTokensSearch(search: Record<string, unknown>): TokensSearch {
  return search['create'] === true ? { create: true } : {};
}
