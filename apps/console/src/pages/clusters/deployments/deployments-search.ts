export interface DeploymentsSearch {
  /** Only those of this project. */
  project?: string;
}

export function parseDeploymentsSearch({ project }: Record<string, unknown>): DeploymentsSearch {
  // What looks like a number was made one by the router.
  const isText = typeof project === 'string' || typeof project === 'number';
  return isText && project !== '' ? { project: String(project).slice(0, 63) } : {};
}
