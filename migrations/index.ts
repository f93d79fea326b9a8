import type { Migration } from '@svc/sql';
import { accountsUsers } from './0001-accounts-users.ts';
import { accountsTeams } from './0002-accounts-teams.ts';
import { accountsAudit } from './0003-accounts-audit.ts';
import { objectStore } from './0010-object-store.ts';
import { sandboxes } from './0020-sandboxes.ts';
import { clustersRegistry } from './0030-clusters.ts';
import { clustersCommands } from './0031-cluster-commands.ts';
import { clustersTelemetry } from './0032-cluster-telemetry.ts';
import { bucketDocuments } from './0040-bucket-documents.ts';
import { copiedParts } from './0045-copied-parts.ts';
import { customDomains } from './0041-custom-domains.ts';
import { domainCertificates } from './0042-domain-certificates.ts';
import { objectProtection } from './0043-object-protection.ts';
import { notificationDeliveries } from './0044-notification-deliveries.ts';
import { lifecycle } from './0046-lifecycle.ts';
import { blobs } from './0048-blobs.ts';
import { accessKeyPurpose } from './0050-access-key-purpose.ts';
import { usageHistory } from './0051-usage-history.ts';
import { sandboxEvents } from './0055-sandbox-events.ts';
import { sandboxMetrics } from './0056-sandbox-metrics.ts';
import { sandboxSnapshots } from './0057-sandbox-snapshots.ts';
import { sandboxPreviews } from './0058-sandbox-previews.ts';
import { sandboxEgress } from './0059-sandbox-egress.ts';
import { clusterTunnels } from './0067-cluster-tunnels.ts';
import { clusterOutbox } from './0068-cluster-outbox.ts';
import { sentOutbox } from './0069-sent-outbox.ts';
import { clusterWarnings } from './0070-cluster-warnings.ts';
import { ticketCallers } from './0071-ticket-callers.ts';
import { twoAgents } from './0073-two-agents.ts';
import { clusterIndexes } from './0074-cluster-indexes.ts';
import { accessKeyMakers } from './0077-access-key-makers.ts';
import { previewRights } from './0087-preview-rights.ts';
import { tunnelLinkRights } from './0088-tunnel-link-rights.ts';
import { sessionConfirmation } from './0090-session-confirmation.ts';
import { passwordLinks } from './0091-password-links.ts';
import { storeKeys } from './0084-store-keys.ts';
import { auditChain } from './0085-audit-chain.ts';
import { quotaOverrides } from './0080-quota-overrides.ts';
import { sandboxQuotas } from './0081-sandbox-quotas.ts';
import { storedUsage } from './0082-stored-usage.ts';
import { serviceAccountMakers } from './0093-service-account-makers.ts';
import { auditPurges } from './0092-audit-purges.ts';
import { accountSponsors } from './0083-account-sponsors.ts';
import { databaseCopy } from './0110-database-copy.ts';
import { sealedSecrets } from './0111-sealed-secrets.ts';
import { sandboxNodes } from './0140-sandbox-nodes.ts';
import { sandboxOnDrain } from './0141-sandbox-on-drain.ts';
import { replicaHost } from './0142-replica-host.ts';
import { newerSandboxEvents } from './0143-newer-sandbox-events.ts';
import { accountThrottle } from './0160-account-throttle.ts';
import { contentReads } from './0161-content-reads.ts';
import { installation } from './0101-installation.ts';
import { replicas } from './0100-replicas.ts';
import { sandboxAccess } from './0150-sandbox-access.ts';
import { sandboxExpiry } from './0151-sandbox-expiry.ts';
import { secrets } from './0170-secrets.ts';
import { sshKeys } from './0210-ssh-keys.ts';
import { sandboxArchives } from './0200-sandbox-archives.ts';
import { sandboxMounts } from './0220-sandbox-mounts.ts';
import { bucketForks } from './0230-bucket-forks.ts';
import { sandboxClusters } from './0240-sandbox-clusters.ts';
import { sandboxWebhooks } from './0250-sandbox-webhooks.ts';
import { sandboxForkCopies } from './0251-sandbox-fork-copies.ts';
import { sandboxGpus } from './0266-sandbox-gpus.ts';
import { guestAddresses } from './0290-guest-addresses.ts';
import { volumeAccess } from './0300-volume-access.ts';
import { templateArchives } from './0301-template-archives.ts';
import { sandboxMoves } from './0201-sandbox-moves.ts';
import { templates } from './0180-templates.ts';
import { sandboxRequestHost } from './0211-sandbox-request-host.ts';
import { replicaSchema } from './0130-replica-schema.ts';
import { pullCredentials } from './0310-pull-credentials.ts';
import { archiveSizes } from './0320-archive-sizes.ts';
import { sandboxRestores } from './0321-sandbox-restores.ts';
import { clusterCapabilities } from './0330-cluster-capabilities.ts';
import { volumes } from './0190-volumes.ts';

/** Every migration, imported by name so that a bundle carries them all. Each file exports one `Migration`. */
export const migrations: readonly Migration[] = [
  accountsUsers,
  accountsTeams,
  accountsAudit,
  objectStore,
  sandboxes,
  clustersRegistry,
  clustersCommands,
  clustersTelemetry,
  bucketDocuments,
  customDomains,
  domainCertificates,
  objectProtection,
  notificationDeliveries,
  copiedParts,
  lifecycle,
  blobs,
  accessKeyPurpose,
  usageHistory,
  sandboxEvents,
  sandboxMetrics,
  sandboxSnapshots,
  sandboxPreviews,
  sandboxEgress,
  clusterTunnels,
  clusterOutbox,
  sentOutbox,
  clusterWarnings,
  ticketCallers,
  twoAgents,
  clusterIndexes,
  accessKeyMakers,
  previewRights,
  tunnelLinkRights,
  sessionConfirmation,
  passwordLinks,
  storeKeys,
  auditChain,
  quotaOverrides,
  sandboxQuotas,
  storedUsage,
  accountSponsors,
  auditPurges,
  serviceAccountMakers,
  replicas,
  installation,
  replicaSchema,
  databaseCopy,
  sealedSecrets,
  sandboxNodes,
  sandboxOnDrain,
  replicaHost,
  newerSandboxEvents,
  sandboxAccess,
  sandboxExpiry,
  secrets,
  templates,
  accountThrottle,
  contentReads,
  volumes,
  sshKeys,
  sandboxArchives,
  sandboxMoves,
  sandboxRequestHost,
  sandboxMounts,
  bucketForks,
  sandboxClusters,
  sandboxWebhooks,
  sandboxForkCopies,
  sandboxGpus,
  guestAddresses,
  volumeAccess,
  templateArchives,
  pullCredentials,
  archiveSizes,
  sandboxRestores,
  clusterCapabilities,
];
