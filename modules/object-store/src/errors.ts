import { defineErrors, type AppError } from '@svc/errors';

/**
 * The object store's only error catalogue, for both planes: the management API puts the code into its envelope, the S3
 * listener into `<Code>`. Where S3 has a code, ours matches it, with AWS's status and message.
 */
export const storeErrors = defineErrors({
  // Identity and permission
  AccessDenied: [403, 'Access Denied'],
  AccessControlListNotSupported: [400, 'The bucket does not allow ACLs.'],
  AccessForbidden: [403, '{reason}'],
  AuthorizationHeaderMalformed: [400, 'The authorization header is malformed; {reason}'],
  AuthorizationQueryParametersError: [400, '{reason}'],
  ExpiryTooLate: [400, 'An access key expires with the token that creates it: `expires_at` must be at most {latest}'],
  ExpiredToken: [400, 'The provided token has expired.'],
  InvalidAccessKeyId: [403, 'The AWS Access Key Id you provided does not exist in our records.'],
  InvalidToken: [400, 'The provided token is malformed or otherwise invalid.'],
  MissingSecurityHeader: [400, 'Your request was missing a required header.'],
  RequestTimeTooSkewed: [403, 'The difference between the request time and the current time is too large.'],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],

  // The shape of a request
  BadRequest: [400, '{reason}'],
  BadDigest: [400, 'The {header} you specified did not match {with}.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed object size.'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size'],
  IncompleteBody: [400, 'The request body terminated unexpectedly'],
  InvalidArgument: [400, '{reason}'],
  InvalidBucketAclWithObjectOwnership: [
    400,
    "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  ],
  InvalidBucketName: [400, 'The specified bucket is not valid.'],
  InvalidChunkSizeError: [400, 'Only the last chunk is allowed to have a size less than 8192 bytes'],
  InvalidDigest: [400, 'The {header} you specified is not valid.'],
  InvalidPolicyDocument: [400, 'Invalid Policy: {reason}'],
  InvalidEncryptionAlgorithmError: [400, 'The encryption request you specified is not valid. Supported value: AES256.'],
  InvalidRetentionPeriod: [400, 'The retention period must be a positive integer value'],
  InvalidRedirectLocation: [400, '{reason}'],
  InvalidRange: [416, 'The requested range is not satisfiable'],
  InvalidRequest: [400, '{reason}'],
  InvalidStorageClass: [400, 'The storage class you specified is not valid'],
  InvalidTag: [400, '{reason}'],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, 'Your key is too long.'],
  MalformedACLError: [
    400,
    'The XML you provided was not well-formed or did not validate against our published schema.',
  ],
  MalformedPOSTRequest: [400, 'The body of your POST request is not well-formed multipart/form-data.'],
  MalformedPolicy: [400, '{reason}'],
  MalformedTrailerError: [
    400,
    'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  ],
  MalformedXML: [400, 'The XML you provided was not well-formed or did not validate against our published schema.'],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  MissingRequestBodyError: [400, 'Request Body is empty'],
  MaxMessageLengthExceeded: [400, 'Your request was too big.'],
  MaxPostPreDataLengthExceeded: [400, 'Your POST request fields preceding the upload file were too large.'],
  NotImplemented: [501, '{operation} is not implemented'],
  RequestHeaderSectionTooLarge: [
    400,
    'Your request header and query parameters used to make the request exceed the maximum allowed size.',
  ],
  RequestTimeout: [
    400,
    'Your socket connection to the server was not read from or written to within the timeout period.',
  ],
  UnresolvableGrantByEmailAddress: [400, 'The e-mail address you provided does not match any account on record.'],
  UnexpectedContent: [400, 'This request does not support content.'],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],

  // Resources
  BucketAlreadyExists: [409, 'The requested bucket name is not available. Bucket names are shared by all workspaces.'],
  BucketAlreadyOwnedByYou: [409, 'Your previous request to create the named bucket succeeded and you already own it.'],
  DomainTaken: [409, 'The hostname is already registered'],
  InvalidHostname: [400, 'The hostname {reason}'],
  NoSuchDomain: [404, 'The specified domain is not registered'],
  TooManyDomains: [400, 'The limit of {limit} custom domains is reached'],
  BucketNotEmpty: [409, '{reason}'],
  IllegalVersioningConfigurationException: [400, 'The Versioning element must be specified'],
  InvalidLocationConstraint: [400, 'The specified location-constraint is not valid'],
  InvalidBucketState: [409, 'The request is not valid with the current state of the bucket.'],
  InvalidPart: [
    400,
    "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  ],
  InvalidPartOrder: [400, 'The list of parts was not in ascending order. Parts must be ordered by part number.'],
  NoSuchAccessKey: [404, 'The specified access key does not exist'],
  NoSuchBucket: [404, 'The specified bucket does not exist.'],
  NoSuchBucketPolicy: [404, 'The bucket policy does not exist.'],
  NoSuchCORSConfiguration: [404, 'The CORS configuration does not exist'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchPublicAccessBlockConfiguration: [404, 'The public access block configuration was not found'],
  NoSuchLifecycleConfiguration: [404, 'The lifecycle configuration does not exist'],
  NoSuchTagSet: [404, 'The TagSet does not exist.'],
  NoSuchObjectLockConfiguration: [404, 'The specified object does not have a ObjectLock configuration.'],
  NoSuchUpload: [
    404,
    'The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  ],
  NoSuchVersion: [404, 'The specified version does not exist.'],
  OperationAborted: [
    409,
    'A conflicting conditional operation is currently in progress against this resource. Please try again.',
  ],
  ObjectLockConfigurationNotFoundError: [404, 'Object Lock configuration does not exist for this bucket.'],
  OwnershipControlsNotFoundError: [404, 'The bucket ownership controls were not found.'],
  QuotaExceeded: [403, 'The {scope} is full: its quota of {quota} is {limit}. {remedy}'],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold.'],
  ServerSideEncryptionConfigurationNotFoundError: [404, 'The server side encryption configuration was not found'],
  TenantNotProvisioned: [409, 'The object store of this workspace is not provisioned yet; create a bucket first'],
  TooManyBuckets: [
    400,
    'You have attempted to create more buckets than allowed: the {scope} is limited to {limit}; {remedy}',
  ],
  TooManyAccessKeys: [400, 'The limit of {limit} access keys is reached'],

  // The store itself
  CertificateRefused: [502, 'The certificate authority refused: {reason}'],
  CertificateUnavailable: [503, 'No certificate could be obtained: {reason}'],
  DataLost: [500, 'The stored bytes of this object are missing or damaged; the operator has been notified'],
  EngineChanged: [
    500,
    'the blobs of this store are in {found}, but the configuration says {wanted}; move them with svc object-store backup and restore',
  ],
  EngineElsewhere: [
    500,
    'the objects of this database are in the embedded engine of another data folder ({folder}, here is {found}): run one replica on that folder, or set object_store.engine to s3 for several replicas',
  ],
  EngineNotConfigured: [500, 'object_store.engine is s3, but object_store.s3.{name} is not set'],
  FolderNotUsable: [500, 'The data folder {folder} cannot be used: {reason}'],
  InsufficientStorage: [
    507,
    'There is not enough space left to store this; delete objects, or ask the operator for more space',
  ],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  KeyClosed: [503, 'The encryption key was rotated during the request; send it again'],
  KeyServiceUnavailable: [503, 'The key service is unavailable, so encrypted data cannot be read or written: {reason}'],
  MasterKeyInvalid: [500, 'The master key {reason}'],
  ObjectStoreDisabled: [503, 'The object store is disabled'],
  ProviderUnavailable: [503, 'The storage engine is not reachable'],
  StorageFault: [500, "The server's disk reports an error; stored objects are unaffected"],
  NoSuchWebsiteConfiguration: [404, 'The specified bucket does not have a website configuration'],
  WebhookRefused: [502, 'The webhook was not delivered: {reason}'],
  ServiceUnavailable: [503, 'The service is temporarily unavailable. Please try again.'],
  SlowDown: [503, 'Please reduce your request rate.'],
});

/** A code of the catalogue. The writer thread sends codes to the main thread. */
export type StoreErrorCode = keyof typeof storeErrors.entries;

export function isStoreErrorCode(code: string): code is StoreErrorCode {
  return Object.hasOwn(storeErrors.entries, code);
}

/** The database is away, or a conflict outlasted all retries. The outcome of a change is unknown. */
export function serviceUnavailable(cause: unknown): AppError {
  return storeErrors.ServiceUnavailable({ cause, headers: { 'retry-after': '1' } });
}

/** Tells S3 clients to wait and retry. */
export function slowDown(retryAfterSeconds: number, details: Record<string, unknown> = {}): Error {
  return storeErrors.SlowDown({ details, headers: { 'retry-after': String(retryAfterSeconds) } });
}
