import type { Logger } from '@svc/telemetry';
import type { ClustersConfig } from '../../config.ts';
import type { Cluster } from '../../domain/cluster.ts';
import { installCommands, type InstallCommands } from '../../domain/install.ts';
import { parseImage, platformImage, type ImageReference } from '../../domain/agent-image.ts';
import { AgentImages } from './agent-images.ts';

export const CHART_PATH = '/v1/agent/svc-agent.tgz';
export const MANIFEST_PATH = '/v1/agent/svc-agent.yaml';
/** Followed by the output of `uname -m`. */
export const IMAGES_PATH = '/v1/agent/images';
/** The only image repository. It sits directly below the platform's host, so nodes pull `HOST/svc-agent:VERSION`. */
export const REPOSITORY = 'svc-agent';

export interface AgentDeliveryOptions {
  install: ClustersConfig['install'];
  /** Folder for the agent images that an operator provides; need not exist. */
  imagesFolder: string;
  /** URL at which agents, users and nodes reach the platform; read on each use. */
  publicUrl: () => string;
  log: Logger;
}

/** Delivers the agent to clusters: the artifacts that the platform serves and the commands that install them. */
export class AgentDelivery {
  readonly #options: AgentDeliveryOptions;
  readonly images: AgentImages;

  constructor(options: AgentDeliveryOptions) {
    this.#options = options;
    this.images = new AgentImages({
      folder: options.imagesFolder,
      onRejected: (file, error) => options.log.warn({ err: error, file }, 'clusters: no image of the agent'),
    });
  }

  async commandsFor(cluster: Cluster, token: string): Promise<InstallCommands> {
    const { install, publicUrl } = this.#options;
    const image = await this.image();
    const available = (await this.images.available()).length > 0;
    return installCommands({
      clusterName: cluster.name,
      clusterId: cluster.id,
      token,
      apiUrl: publicUrl(),
      namespace: install.namespace,
      chart: install.chart === '' ? `${publicUrl()}${CHART_PATH}` : install.chart,
      manifest: install.manifest === '' ? `${publicUrl()}${MANIFEST_PATH}` : install.manifest,
      image,
      imported: image === null ? { url: `${publicUrl()}${IMAGES_PATH}`, available } : null,
    });
  }

  /**
   * Returns the configured image, or the platform's own image if nodes can pull it. Nodes pull only over TLS from an
   * authority they trust, so a platform without an https URL has no image to offer.
   */
  async image(): Promise<ImageReference | null> {
    const { install, publicUrl } = this.#options;
    const given = parseImage(install.image);
    if (given !== null || !publicUrl().startsWith('https:')) return given;
    return (await this.images.available()).length === 0 ? null : platformImage(publicUrl(), REPOSITORY);
  }
}
