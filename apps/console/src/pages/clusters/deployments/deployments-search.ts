export interface DeploymentsSearch {
  /** Only deployments of this project. */
  project?: string;
}

export function parseDeploymentsSearch({ project }: Record<string, unknown>): DeploymentsSearch {
  // The router parses numeric text as a number.
  const isText = typeof project === 'string' || typeof project === 'number';
  return isText && project !== '' ? { project: String(project).slice(0, 63) } : {};
}
