/** The services that one process can run; any subset is valid. */
export const SERVICE_NAMES = ['clusters', 'object-store', 'sandboxes'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];
