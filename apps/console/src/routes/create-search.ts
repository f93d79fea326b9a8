export interface CreateSearch {
  /** True while the page's create dialog is open, so that a link can open it. */
  create?: true;
}

export function parseCreateSearch(search: Record<string, unknown>): CreateSearch {
  return search['create'] === true ? { create: true } : {};
}
