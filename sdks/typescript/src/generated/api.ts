/* Made by scripts/generate-types.ts from api/openapi.json; `./svc openapi` writes it anew. */

export interface ObjectStoreOperations {
  /** Download a public object without credentials */
  'GET /api/v1/public/object-store/t/{tenant_id}/objects/{*}': {
    query: {
      "bucket": string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Download a public object without credentials */
  'HEAD /api/v1/public/object-store/t/{tenant_id}/objects/{*}': {
    query: {
      "bucket": string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Get the status, limits and usage of the workspace’s object store */
  'GET /': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "enabled": boolean;
        /** The UUID of the workspace */
        "tenant_id": string;
        /** Owner of the buckets in S3 ACLs */
        "owner_id": string;
        "owner_display_name": string;
        "s3_endpoint": string;
        "region": string;
        /** Whether a bucket has ever been created; access keys and domains require one */
        "provisioned": boolean;
        /** Limits by name; each name ends with its unit */
        "limits": Record<string, number>;
        "usage": {
          "buckets": number;
          "object_count": number;
          "size_bytes": number;
        };
      };
    };
  };
  /** List buckets */
  'GET /buckets': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "buckets": ({
          "name": string;
          "created_at": string;
          "region": string;
          "location_hint": string | null;
          "encryption_mode": "none" | "sse-s3";
          "versioning": "unversioned" | "enabled" | "suspended";
          "publicDefault": boolean;
          "object_count": number;
          "size_bytes": number;
          "soft_delete": {
            "enabled": boolean;
            "retention_days": number;
          };
          /** All registered domains, including those that are not active yet */
          "custom_domains": (string)[];
          "state": "active";
        })[];
        "count": number;
      };
    };
  };
  /** Create a bucket; the first one provisions the object store of the workspace */
  'POST /buckets': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Converted to `[a-z0-9-]`; the response has the final name */
      "name": string;
      "encryption_mode"?: undefined | "none" | "sse-s3";
      "location_hint"?: undefined | string | null;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "name": string;
        "created_at": string;
        "region": string;
        "location_hint": string | null;
        "encryption_mode": "none" | "sse-s3";
        "versioning": "unversioned" | "enabled" | "suspended";
        "publicDefault": boolean;
        "object_count": number;
        "size_bytes": number;
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        /** All registered domains, including those that are not active yet */
        "custom_domains": (string)[];
        "state": "active";
      };
    };
  };
  /** List deleted buckets that can be restored */
  'GET /buckets/deleted': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "buckets": ({
          "name": string;
          "state": "soft-deleted" | "deleted";
          "created_at": string;
          "deleted_at": string;
          "purge_at": string | null;
          "restorable": boolean;
        })[];
        "count": number;
      };
    };
  };
  /** Delete a bucket; it can be restored until it is purged */
  'DELETE /buckets/{name}': {
    query: {
      "team_uuid"?: undefined | string;
      "force"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "name": string;
        "state": "soft-deleted" | "deleted";
        "created_at": string;
        "deleted_at": string;
        "purge_at": string | null;
        "restorable": boolean;
      };
    };
  };
  /** List the custom domains of a bucket and their CNAME target */
  'GET /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname"?: undefined | string;
        "bucket": string;
        "cname_target": string;
        "dns_hint"?: undefined | string;
        "url"?: undefined | string;
        "status"?: undefined | "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl"?: undefined | {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns"?: undefined | {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at"?: undefined | string;
        "verified_at"?: undefined | string | null;
        "last_checked_at"?: undefined | string | null;
        "error"?: undefined | {
          "code": string;
          "message": string;
        } | null;
        "domains": ({
          "hostname": string;
          "bucket": string;
          /** Required target of the hostname's CNAME record */
          "cname_target": string;
          "dns_hint": string;
          "url": string;
          "status": "pending" | "verifying" | "active" | "error" | "blocked";
          "ssl": {
            "status": "initializing" | "pending" | "active" | "error" | "deactivated";
            "issuer": string | null;
            "expires_at": string | null;
          };
          "dns": {
            "status": "missing" | "mismatch" | "proxied" | "ok";
            "observed": (string)[];
          };
          "created_at": string;
          "verified_at": string | null;
          "last_checked_at": string | null;
          "error": {
            "code": string;
            "message": string;
          } | null;
        })[];
        "count": number;
      };
    };
  };
  /** Add a custom domain to a bucket */
  'POST /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** Required target of the hostname's CNAME record */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        "status": "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl": {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Replace the custom domains of a bucket with one hostname */
  'PUT /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** Required target of the hostname's CNAME record */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        "status": "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl": {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Remove the custom domains of a bucket; takes effect immediately */
  'DELETE /buckets/{name}/custom-domain': {
    query: {
      "team_uuid"?: undefined | string;
      "hostname"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "bucket": string;
        "removed": (string)[];
      };
    };
  };
  /** Get the default encryption of a bucket */
  'GET /buckets/{name}/encryption': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "mode": "none" | "sse-s3";
      };
    };
  };
  /** Turn the encryption of new objects in a bucket on or off */
  'PUT /buckets/{name}/encryption': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "mode": "none" | "sse-s3";
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "mode": "none" | "sse-s3";
      };
    };
  };
  /** Create a folder */
  'POST /buckets/{name}/folders': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A trailing `/` is added if missing */
      "path": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "path": string;
      };
    };
  };
  /** Get the progress and the source of a bucket that was made as a fork */
  'GET /buckets/{name}/fork': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "name": string;
        /** Name of the source at the time of the fork */
        "source": string;
        /** The bucket does not exist for other requests until it is ready */
        "state": "forking" | "ready";
        "started_at": string;
        "finished_at": string | null;
        "object_count": number;
        "size_bytes": number;
        /** Objects of the source that the fork has so far */
        "copied_count": number;
      };
    };
  };
  /** Fork a bucket: create a bucket with its current objects, which share the stored bytes */
  'POST /buckets/{name}/fork': {
    query: {
      "team_uuid"?: undefined | string;
      "wait_ms"?: undefined | number;
    };
    body: {
      /** Converted to `[a-z0-9-]`; by default `<source>-fork-<random>` */
      "name"?: undefined | string;
    } | null;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "name": string;
        /** Name of the source at the time of the fork */
        "source": string;
        /** The bucket does not exist for other requests until it is ready */
        "state": "forking" | "ready";
        "started_at": string;
        "finished_at": string | null;
        "object_count": number;
        "size_bytes": number;
        /** Objects of the source that the fork has so far */
        "copied_count": number;
      };
    };
  };
  /** List the lifecycle rules of a bucket */
  'GET /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | true;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Replace the lifecycle rules; also accepts the AWS and R2 formats */
  'PUT /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "rules"?: undefined | ({
        "id"?: undefined | string;
        "enabled"?: undefined | boolean;
        "filter"?: undefined | {
          "prefix"?: undefined | string;
          "tags"?: undefined | Record<string, string>;
          "size_greater_than"?: undefined | number | null;
          "size_less_than"?: undefined | number | null;
        } | null;
        "expiration"?: undefined | {
          "days"?: undefined | number;
          /** Midnight in UTC */
          "date"?: undefined | string;
          "expired_object_delete_marker"?: undefined | true;
        } | null;
        "noncurrent_version_expiration"?: undefined | {
          "days": number;
          "newer_versions"?: undefined | number | null;
        } | null;
        "abort_incomplete_multipart_upload"?: undefined | {
          "days": number;
        } | null;
        "conditions"?: undefined | {
          "prefix"?: undefined | string;
        };
        "deleteObjectsTransition"?: undefined | {
          "condition": {
            "type": "Age";
            /** Seconds */
            "maxAge": number;
          };
        };
        "abortMultipartUploadsTransition"?: undefined | {
          "condition": {
            "type": "Age";
            /** Seconds */
            "maxAge": number;
          };
        };
      })[];
      "Rules"?: undefined | ({
        "ID"?: undefined | string;
        "Status": "Enabled" | "Disabled";
        "Prefix"?: undefined | string;
        "Filter"?: undefined | {
          "Prefix"?: undefined | string;
          "ObjectSizeGreaterThan"?: undefined | number;
          "ObjectSizeLessThan"?: undefined | number;
          "Tag"?: undefined | {
            "Key": string;
            "Value": string;
          };
          "And"?: undefined | {
            "Prefix"?: undefined | string;
            "ObjectSizeGreaterThan"?: undefined | number;
            "ObjectSizeLessThan"?: undefined | number;
            "Tags"?: undefined | ({
              "Key": string;
              "Value": string;
            })[];
          };
        };
        "Expiration"?: undefined | {
          "Days"?: undefined | number;
          "Date"?: undefined | string;
          "ExpiredObjectDeleteMarker"?: undefined | boolean;
        };
        "NoncurrentVersionExpiration"?: undefined | {
          "NoncurrentDays": number;
          "NewerNoncurrentVersions"?: undefined | number;
        };
        "AbortIncompleteMultipartUpload"?: undefined | {
          "DaysAfterInitiation": number;
        };
      })[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | true;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Remove all lifecycle rules */
  'DELETE /buckets/{name}/lifecycle': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          "id": string;
          "enabled": boolean;
          "filter": {
            "prefix": string;
            "tags": Record<string, string>;
            "size_greater_than": number | null;
            "size_less_than": number | null;
          };
          "expiration": {
            "days"?: undefined | number;
            "date"?: undefined | string;
            "expired_object_delete_marker"?: undefined | true;
          } | null;
          "noncurrent_version_expiration": {
            "days": number;
            "newer_versions": number | null;
          } | null;
          "abort_incomplete_multipart_upload": {
            "days": number;
          } | null;
        })[];
      };
    };
  };
  /** Get the location of a bucket */
  'GET /buckets/{name}/location': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "location": string;
        "region": string;
        "location_hint": string | null;
        /** Engine that stores the objects */
        "provider": string;
      };
    };
  };
  /** List the webhook rules of a bucket and their delivery status */
  'GET /buckets/{name}/notifications': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          /** Unique in the bucket */
          "id": string;
          /** URL that receives the events */
          "webhook": string;
          "events": (string)[];
          "enabled": boolean;
          "prefix": string;
          "suffix": string;
        })[];
        "delivery": {
          /** Events waiting for delivery, counted up to 10,000 */
          "waiting": number;
          "oldest_waiting_at": string | null;
          "next_attempt_at": string | null;
          "last_error": string | null;
          /** Events that could not be delivered, counted up to 10,000 */
          "failed": number;
        };
        /** The latest events that could not be delivered */
        "failed": ({
          "id": number;
          "rule": string;
          "event": string;
          "key": string;
          "version_id": string | null;
          "occurred_at": string;
          "failed_at": string;
          "attempts": number;
          "error": string;
        })[];
      };
    };
  };
  /** Replace the webhook rules; an empty list turns notifications off */
  'PUT /buckets/{name}/notifications': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "rules": ({
        /** Unique in the bucket */
        "id": string;
        /** URL that receives the events */
        "webhook": string;
        "events": (string)[];
        "enabled"?: undefined | boolean;
        "prefix"?: undefined | string;
        "suffix"?: undefined | string;
      })[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "rules": ({
          /** Unique in the bucket */
          "id": string;
          /** URL that receives the events */
          "webhook": string;
          "events": (string)[];
          "enabled": boolean;
          "prefix": string;
          "suffix": string;
        })[];
        "delivery": {
          /** Events waiting for delivery, counted up to 10,000 */
          "waiting": number;
          "oldest_waiting_at": string | null;
          "next_attempt_at": string | null;
          "last_error": string | null;
          /** Events that could not be delivered, counted up to 10,000 */
          "failed": number;
        };
        /** The latest events that could not be delivered */
        "failed": ({
          "id": number;
          "rule": string;
          "event": string;
          "key": string;
          "version_id": string | null;
          "occurred_at": string;
          "failed_at": string;
          "attempts": number;
          "error": string;
        })[];
      };
    };
  };
  /** Redeliver failed events */
  'POST /buckets/{name}/notifications/redeliver': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Default: all failed events */
      "ids"?: undefined | (number)[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "count": number;
      };
    };
  };
  /** Get the signing secret of a bucket’s webhooks */
  'GET /buckets/{name}/notifications/secret': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        /** Secret that verifies signatures, in the Standard Webhooks format: `whsec_` and base64 */
        "secret": string;
        "previous_valid_until": string | null;
      };
    };
  };
  /** Rotate the signing secret; the previous one also signs for one day */
  'POST /buckets/{name}/notifications/secret': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        /** Secret that verifies signatures, in the Standard Webhooks format: `whsec_` and base64 */
        "secret": string;
        "previous_valid_until": string | null;
      };
    };
  };
  /** Send a test event now and return the result */
  'POST /buckets/{name}/notifications/test': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Default: the first rule */
      "rule"?: undefined | string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "delivered": boolean;
        "error": string | null;
      };
    };
  };
  /** List objects in key order */
  'GET /buckets/{name}/objects': {
    query: {
      "team_uuid"?: undefined | string;
      "prefix"?: undefined | string;
      "delimiter"?: undefined | string;
      "cursor"?: undefined | string;
      "limit"?: undefined | number;
      "start_after"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "objects": ({
          "key": string;
          "size": number;
          /** Without quotes */
          "etag": string;
          "last_modified": string;
          "content_type": string;
          "storage_class": string;
          "version_id": string | null;
          /** Whether the object is public, regardless of the bucket’s default */
          "public": boolean;
        })[];
        "prefixes": (string)[];
        "cursor": string | null;
        "truncated": boolean;
        "key_count": number;
      };
    };
  };
  /** Upload 1 to 20 files with a form */
  'POST /buckets/{name}/objects': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "objects": ({
          "key": string;
          "size": number;
          "etag": string;
          "version_id": string | null;
          "checksum_crc64nvme": string | null;
          "content_type": string;
          "last_modified": string;
          /** URL of the object; works without credentials if the object is public */
          "url": string;
        })[];
      };
    };
  };
  /** Delete an object or one of its versions; succeeds if it does not exist */
  'DELETE /buckets/{name}/objects': {
    query: {
      "team_uuid"?: undefined | string;
      "key": string;
      "version_id"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key": string;
        "deleted": boolean;
        "delete_marker": boolean;
        "version_id": string | null;
      };
    };
  };
  /** Upload an object */
  'PUT /buckets/{name}/objects/content': {
    query: {
      "team_uuid"?: undefined | string;
      "key": string;
      "public"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key": string;
        "size": number;
        "etag": string;
        "version_id": string | null;
        "checksum_crc64nvme": string | null;
        "content_type": string;
        "last_modified": string;
        /** URL of the object; works without credentials if the object is public */
        "url": string;
      };
    };
  };
  /** Delete up to 1,000 objects; each succeeds or fails on its own */
  'POST /buckets/{name}/objects/delete': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "keys"?: undefined | (string)[];
      "objects"?: undefined | ({
        "key": string;
        "version_id"?: undefined | string;
      })[];
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "deleted": ({
          "key": string;
          "deleted": boolean;
          "delete_marker": boolean;
          "version_id": string | null;
        })[];
        "errors": ({
          "key": string;
          "version_id": string | null;
          "code": string;
          "message": string;
        })[];
      };
    };
  };
  /** Download an object or a range of it */
  'GET /buckets/{name}/objects/download': {
    query: {
      "team_uuid"?: undefined | string;
      "key": string;
      "version_id"?: undefined | string;
      "inline"?: undefined | "0" | "1";
    };
    body: undefined;
    answer: undefined;
  };
  /** Download an object or a range of it */
  'HEAD /buckets/{name}/objects/download': {
    query: {
      "team_uuid"?: undefined | string;
      "key": string;
      "version_id"?: undefined | string;
      "inline"?: undefined | "0" | "1";
    };
    body: undefined;
    answer: undefined;
  };
  /** List unfinished multipart uploads */
  'GET /buckets/{name}/objects/multipart': {
    query: {
      "team_uuid"?: undefined | string;
      "prefix"?: undefined | string;
      "delimiter"?: undefined | string;
      "cursor"?: undefined | string;
      "limit"?: undefined | number;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "uploads": ({
          "uploadId": string;
          "key": string;
          "initiated_at": string;
          "content_type": string;
        })[];
        "prefixes": (string)[];
        "cursor": string | null;
        "truncated": boolean;
      };
    };
  };
  /** Start a multipart upload */
  'POST /buckets/{name}/objects/multipart': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "key": string;
      "content_type"?: undefined | string;
      "cache_control"?: undefined | string;
      /** Stored with the object and returned as `x-amz-meta-*` */
      "metadata"?: undefined | Record<string, string>;
      "public"?: undefined | boolean;
      /** Total bytes, if known; used to recommend a part size */
      "size"?: undefined | number;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "uploadId": string;
        "key": string;
        "bucket": string;
        "min_part_size": number;
        "max_part_size": number;
        "max_parts": number;
        "recommended_part_size": number;
        "initiated_at": string;
      };
    };
  };
  /** Abort a multipart upload; succeeds if it does not exist */
  'DELETE /buckets/{name}/objects/multipart/{uploadId}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "uploadId": string;
        "aborted": boolean;
      };
    };
  };
  /** Complete a multipart upload; repeating the request returns the same response */
  'POST /buckets/{name}/objects/multipart/{uploadId}/complete': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Default: all uploaded parts */
      "parts"?: undefined | ({
        "partNumber": number;
        "etag": string;
      })[];
    } | null;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key": string;
        "size": number;
        "etag": string;
        "version_id": string | null;
        "checksum_crc64nvme": string | null;
        "content_type": string;
        "last_modified": string;
        /** URL of the object; works without credentials if the object is public */
        "url": string;
      };
    };
  };
  /** List the uploaded parts, to resume an upload */
  'GET /buckets/{name}/objects/multipart/{uploadId}/parts': {
    query: {
      "team_uuid"?: undefined | string;
      "cursor"?: undefined | number;
      "limit"?: undefined | number;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "uploadId": string;
        "key": string;
        "parts": ({
          "partNumber": number;
          "etag": string;
          "size": number;
          "checksum_crc64nvme": string | null;
          "last_modified": string | null;
        })[];
        "cursor": number | null;
        "truncated": boolean;
      };
    };
  };
  /** Upload a part; the same number replaces it */
  'PUT /buckets/{name}/objects/multipart/{uploadId}/parts/{n}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "partNumber": number;
        "etag": string;
        "size": number;
        "checksum_crc64nvme": string | null;
        "last_modified": string | null;
      };
    };
  };
  /** Presign a URL for one key, for up to 100, or for the parts of an upload */
  'POST /buckets/{name}/objects/presign': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "key"?: undefined | string;
      "keys"?: undefined | (string)[];
      "method"?: undefined | "GET" | "PUT" | "DELETE";
      /** Seconds; 900 by default */
      "expires_in"?: undefined | number;
      "content_type"?: undefined | string;
      "content_length"?: undefined | number;
      /** Fail the upload if the key exists */
      "if_none_match"?: undefined | boolean;
      "version_id"?: undefined | string;
      "multipart"?: undefined | {
        "parts": number;
        /** Stored with the object and returned as `x-amz-meta-*` */
        "metadata"?: undefined | Record<string, string>;
        "cache_control"?: undefined | string;
      };
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key"?: undefined | string;
        "url"?: undefined | string;
        "method"?: undefined | string;
        "headers"?: undefined | Record<string, string>;
        "expires_at": string;
        "urls"?: undefined | ({
          "key": string;
          "url": string;
          "method": string;
          /** Headers to send unchanged */
          "headers": Record<string, string>;
          "expires_at": string;
        })[];
        "uploadId"?: undefined | string;
        "parts"?: undefined | ({
          "partNumber": number;
          "url": string;
        })[];
      };
    };
  };
  /** List versions and delete markers, newest first within each key */
  'GET /buckets/{name}/objects/versions': {
    query: {
      "team_uuid"?: undefined | string;
      "key"?: undefined | string;
      "prefix"?: undefined | string;
      "delimiter"?: undefined | string;
      "cursor"?: undefined | string;
      "limit"?: undefined | number;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "versions": ({
          "key": string;
          "version_id": string;
          "is_latest": boolean;
          "delete_marker": boolean;
          "size": number;
          "etag": string | null;
          "last_modified": string;
        })[];
        "prefixes": (string)[];
        "cursor": string | null;
        "truncated": boolean;
      };
    };
  };
  /** Restore an older version of an object */
  'POST /buckets/{name}/objects/versions/restore': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "key": string;
      "version_id": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "key": string;
        "size": number;
        "etag": string;
        "version_id": string | null;
        "checksum_crc64nvme": string | null;
        "content_type": string;
        "last_modified": string;
        /** URL of the object; works without credentials if the object is public */
        "url": string;
      };
    };
  };
  /** Restore a deleted bucket */
  'POST /buckets/{name}/restore': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "name": string;
        "created_at": string;
        "region": string;
        "location_hint": string | null;
        "encryption_mode": "none" | "sse-s3";
        "versioning": "unversioned" | "enabled" | "suspended";
        "publicDefault": boolean;
        "object_count": number;
        "size_bytes": number;
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        /** All registered domains, including those that are not active yet */
        "custom_domains": (string)[];
        "state": "active";
      };
    };
  };
  /** Get the settings of a bucket, including defaults */
  'GET /buckets/{name}/settings': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "publicDefault": boolean;
        "cacheControl": string | null;
        "cors_rules": ({
          "id"?: undefined | string;
          "allowed_origins": (string)[];
          "allowed_methods": ("GET" | "PUT" | "POST" | "DELETE" | "HEAD")[];
          "allowed_headers": (string)[];
          "expose_headers": (string)[];
          "max_age_seconds": number | null;
        })[];
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        "max_object_size": number | null;
        "allowed_content_types": (string)[] | null;
        "quota": {
          "max_bytes": number | null;
          "max_objects": number | null;
        };
        "website": {
          "index": string;
          "error": string | null;
        } | null;
        "notifications": {
          "id": string;
          "enabled": boolean;
          "webhook": string;
          "events": (string)[];
          "prefix": string;
          "suffix": string;
        } | null;
      };
    };
  };
  /** Change settings; omitted fields keep their value, and null resets to the default */
  'PUT /buckets/{name}/settings': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "publicDefault"?: undefined | boolean | null;
      "cacheControl"?: undefined | string | null;
      "cors_rules"?: undefined | ({
        "id"?: undefined | string;
        "allowed_origins": (string)[];
        "allowed_methods": ("GET" | "PUT" | "POST" | "DELETE" | "HEAD")[];
        "allowed_headers"?: undefined | (string)[];
        "expose_headers"?: undefined | (string)[];
        "max_age_seconds"?: undefined | number | null;
      })[] | null;
      "soft_delete"?: undefined | {
        "enabled"?: undefined | boolean | null;
        "retention_days"?: undefined | number | null;
      } | null;
      "max_object_size"?: undefined | number | null;
      "allowed_content_types"?: undefined | (string)[] | null;
      "quota"?: undefined | {
        "max_bytes"?: undefined | number | null;
        "max_objects"?: undefined | number | null;
      } | null;
      "website"?: undefined | {
        /** Name of the index document in each folder */
        "index": string;
        "error"?: undefined | string | null;
      } | null;
      "notifications"?: undefined | {
        /** ID of the rule, if the bucket has several */
        "id"?: undefined | string;
        "enabled"?: undefined | boolean;
        /** URL that receives the events */
        "webhook": string;
        "events": (string)[];
        "prefix"?: undefined | string;
        "suffix"?: undefined | string;
      } | null;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "publicDefault": boolean;
        "cacheControl": string | null;
        "cors_rules": ({
          "id"?: undefined | string;
          "allowed_origins": (string)[];
          "allowed_methods": ("GET" | "PUT" | "POST" | "DELETE" | "HEAD")[];
          "allowed_headers": (string)[];
          "expose_headers": (string)[];
          "max_age_seconds": number | null;
        })[];
        "soft_delete": {
          "enabled": boolean;
          "retention_days": number;
        };
        "max_object_size": number | null;
        "allowed_content_types": (string)[] | null;
        "quota": {
          "max_bytes": number | null;
          "max_objects": number | null;
        };
        "website": {
          "index": string;
          "error": string | null;
        } | null;
        "notifications": {
          "id": string;
          "enabled": boolean;
          "webhook": string;
          "events": (string)[];
          "prefix": string;
          "suffix": string;
        } | null;
      };
    };
  };
  /** Get the versioning state of a bucket */
  'GET /buckets/{name}/versioning': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "status": "unversioned" | "enabled" | "suspended";
        "mfa_delete": boolean;
      };
    };
  };
  /** Turn versioning on or suspend it; a versioned bucket cannot become unversioned */
  'PUT /buckets/{name}/versioning': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "status"?: undefined | "enabled" | "suspended" | "Enabled" | "Suspended";
      "enabled"?: undefined | boolean;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "status": "unversioned" | "enabled" | "suspended";
        "mfa_delete": boolean;
      };
    };
  };
  /** List custom domains */
  'GET /domains': {
    query: {
      "team_uuid"?: undefined | string;
      "bucket"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "domains": ({
          "hostname": string;
          "bucket": string;
          /** Required target of the hostname's CNAME record */
          "cname_target": string;
          "dns_hint": string;
          "url": string;
          "status": "pending" | "verifying" | "active" | "error" | "blocked";
          "ssl": {
            "status": "initializing" | "pending" | "active" | "error" | "deactivated";
            "issuer": string | null;
            "expires_at": string | null;
          };
          "dns": {
            "status": "missing" | "mismatch" | "proxied" | "ok";
            "observed": (string)[];
          };
          "created_at": string;
          "verified_at": string | null;
          "last_checked_at": string | null;
          "error": {
            "code": string;
            "message": string;
          } | null;
        })[];
        "count": number;
      };
    };
  };
  /** Register a custom domain on a bucket */
  'POST /domains': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** A fully qualified name */
      "hostname"?: undefined | string;
      /** A fully qualified name */
      "domain"?: undefined | string;
      "bucket": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** Required target of the hostname's CNAME record */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        "status": "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl": {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** Remove a custom domain; takes effect immediately */
  'DELETE /domains/{hostname}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "removed": true;
      };
    };
  };
  /** Check the DNS of a custom domain now, at most once every 10 seconds, and return its status */
  'GET /domains/{hostname}/status': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "hostname": string;
        "bucket": string;
        /** Required target of the hostname's CNAME record */
        "cname_target": string;
        "dns_hint": string;
        "url": string;
        "status": "pending" | "verifying" | "active" | "error" | "blocked";
        "ssl": {
          "status": "initializing" | "pending" | "active" | "error" | "deactivated";
          "issuer": string | null;
          "expires_at": string | null;
        };
        "dns": {
          "status": "missing" | "mismatch" | "proxied" | "ok";
          "observed": (string)[];
        };
        "created_at": string;
        "verified_at": string | null;
        "last_checked_at": string | null;
        "error": {
          "code": string;
          "message": string;
        } | null;
      };
    };
  };
  /** List access keys, without secrets */
  'GET /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "keys": ({
          "accessKeyId": string;
          "label": string;
          "permissions": ("read" | "write" | "admin")[];
          /** `["*"]`: all buckets of the workspace */
          "buckets": (string)[];
          "role": "ReadOnly" | "Editor" | "NamespaceAdmin";
          "expires_at": string | null;
          "created_at": string;
          /** ID of the user or service account that created it */
          "created_by": string;
          /** Email address or name of the creator at that time; empty for old keys */
          "created_by_name": string;
          /** A key grants no more than its creator may currently do. `limited`: only `effective_permissions` remain. `suspended`: no permissions remain, and requests are refused. */
          "status": "active" | "limited" | "suspended" | "expired";
          "status_reason": string | null;
          "effective_permissions": ("read" | "write" | "admin")[];
          "last_used_at": string | null;
        })[];
        "count": number;
      };
    };
  };
  /** Create an access key; its secret is returned only once */
  'POST /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "label"?: undefined | string;
      "permissions"?: undefined | ("read" | "write" | "admin")[];
      "buckets"?: undefined | (string)[];
      "expires_at"?: undefined | string | null;
    } | null;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "accessKeyId": string;
        /** Returned only once */
        "secretAccessKey": string;
        "s3_endpoint": string;
        "region": string;
        "tenant_id": string;
        "key": {
          "accessKeyId": string;
          "secretAccessKey": string;
          "label": string;
          "permissions": ("read" | "write" | "admin")[];
          /** `["*"]`: all buckets of the workspace */
          "buckets": (string)[];
          "role": "ReadOnly" | "Editor" | "NamespaceAdmin";
          "expires_at": string | null;
        };
      };
    };
  };
  /** Revoke an access key */
  'DELETE /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "accessKeyId": string;
    };
    answer: {
      "success": true;
      "message": string;
      "data": {
        "accessKeyId": string;
      };
    };
  };
  /** Purge deleted objects now, without the grace period */
  'DELETE /trash': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        /** Objects, uploads and replaced parts to purge */
        "entries": number;
        "bytes": number;
      };
    };
  };
  /** List the URLs of a bucket */
  'GET /urls': {
    query: {
      "team_uuid"?: undefined | string;
      "bucket": string;
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "bucket": string;
        /** Whether objects are public by default */
        "public": boolean;
        /** Append a key to it */
        "virtual_host": string;
        /** Append a key to it */
        "path_style": string;
        /** Replace `{key}` with a percent-encoded key */
        "management_public": string;
        /** The same in a separate origin, if the operator set one for public objects (`object_store.public_objects.domain`). */
        "public_objects": string | null;
        "custom_domains": (string)[];
      };
    };
  };
  /** Get usage over time of the workspace or of one bucket */
  'GET /usage': {
    query: {
      "team_uuid"?: undefined | string;
      "bucket"?: undefined | string;
      "from"?: undefined | string;
      "to"?: undefined | string;
      "resolution"?: undefined | "hour" | "day";
    };
    body: undefined;
    answer: {
      "success": true;
      "message": string;
      "data": {
        "bucket": string | null;
        "resolution": "hour" | "day";
        "from": string;
        "to": string;
        "quota": {
          "max_bytes": number | null;
          "max_objects": number | null;
        } | null;
        /** In order of time. Periods in which the platform was not running or the bucket did not exist have no point. */
        "points": ({
          /** Start of the hour or day, UTC */
          "at": string;
          /** At the end of the period, or at the last measurement before that */
          "object_count": number;
          /** At the end of the period, or at the last measurement before that */
          "size_bytes": number;
          /** Requests within the period */
          "request_count": number;
          /** Bytes of request bodies within the period, as sent */
          "bytes_in": number;
          /** Bytes of response bodies within the period */
          "bytes_out": number;
        })[];
      };
    };
  };
}

export interface SandboxOperations {
  /** Sign in as a guest, for smoke tests; disabled by default */
  'POST /auth/guest': {
    query: Record<string, never>;
    body: {
      "username": string;
      "email"?: undefined | string;
    };
    answer: {
      "token": string;
      "token_type": "Bearer";
      /** Seconds */
      "expires_in": number;
      "expires_at": string;
      "guest": true;
      "user": {
        "id": string;
        "username": string;
        /** Always empty */
        "email": string;
        "tier": "guest";
      };
      /** Maximum number of sandboxes of the guest */
      "containers": number;
    };
  };
  /** List sandboxes, newest first; filters: status, name, label.KEY=VALUE */
  'GET /containers': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "status"?: undefined | "creating" | "running" | "stopped" | "error";
      "name"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "containers": ({
        "id": string;
        "name": string;
        "image": string;
        "snapshot_id": string | null;
        "template_build_id": string | null;
        "status": "creating" | "running" | "stopped" | "error";
        "state_reason": string | null;
        "error": {
          "code": string;
          "message": string;
          "recoverable": boolean;
        } | null;
        /** RFC 3339, UTC, milliseconds */
        "created_at": string;
        "started_at": string | null;
        "paused_at": string | null;
        "expires_at": string | null;
        /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
        "on_expiry": "delete" | "pause" | "stop";
        /** RFC 3339, UTC, milliseconds */
        "last_activity_at": string;
        "labels": Record<string, string>;
        "environment": Record<string, string>;
        "resources": {
          "cpu": number;
          "memory_mb": number;
          "disk_mb": number;
          "pids": number;
          /** Absent if there are none */
          "gpus"?: undefined | number;
        };
        "driver": string;
        "cluster": string | null;
        "isolation": "namespaces" | "gvisor";
        /** Whether its programs run directly on the host's kernel */
        "shares_kernel": boolean;
        "network": "none" | "egress";
        /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
        "egress_allow": (string)[] | null;
        /** Denied IPv4 ranges, if egress_allow resolves all names */
        "egress_deny": (string)[];
        /** Secrets that are added to requests outside the sandbox */
        "egress_rules": ({
          /** Hostname, such as api.example.com, or *.example.com for all names below it */
          "host": string;
          /** Header to set; instead of query */
          "header"?: undefined | string;
          /** Query parameter to set; instead of header */
          "query"?: undefined | string;
          /** Name of a secret of the workspace */
          "secret": string;
          /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
          "template"?: undefined | string;
          /** Also set it in requests over plain HTTP, which are refused otherwise */
          "insecure"?: undefined | boolean;
        })[];
        "volumes": ({
          "name": string;
          "path": string;
          "read_only": boolean;
        })[];
        "mounts": ({
          "bucket": string;
          "prefix": string;
          "path": string;
          "read_only": boolean;
          /** Bucket that this one was forked from for the sandbox */
          "forked_from"?: undefined | string;
        })[];
        /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
        "on_drain": "stop" | "snapshot" | "move";
        /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
        "on_node_lost": "wait" | "restore";
        "image_progress": {
          /** resolving, downloading, unpacking, or building */
          "stage": string;
          /** Progress as a sentence for people */
          "message": string;
          "source": string;
          "layers": number;
          "layers_done": number;
          /** Compressed bytes to download; 0 if nothing is downloaded */
          "bytes": number;
          "bytes_done": number;
        } | null;
      })[];
      "count": number;
      /** Maximum number of sandboxes of the caller */
      "limit": number;
      "next_cursor": string | null;
    };
  };
  /** Create a sandbox; 201 if it is running within the wait, otherwise 202 */
  'POST /containers': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait_ms"?: undefined | number;
    };
    body: {
      /** Name or alias of an image in the catalog */
      "image"?: undefined | string;
      /** Template to start from, instead of an image: its name, a name with a tag, or the ID of a build */
      "template"?: undefined | string;
      /** Snapshot to start from, instead of an image */
      "snapshot_id"?: undefined | string;
      "name"?: undefined | string | null;
      "environment"?: undefined | Record<string, string> | null;
      "labels"?: undefined | Record<string, string> | null;
      "resources"?: undefined | {
        "cpu"?: undefined | number;
        "memory_mb"?: undefined | number;
        "disk_mb"?: undefined | number;
        "pids"?: undefined | number;
        /** GPUs; refused where the driver has none */
        "gpus"?: undefined | number;
      };
      "network"?: undefined | "none" | "egress";
      /** Allowed hosts, such as example.com, or *.example.com for all its subdomains, and IPv4 addresses or ranges; all others are blocked. With *, other names resolve too, to addresses in the ranges */
      "egress_allow"?: undefined | (string)[];
      /** Denied IPv4 addresses and ranges; everything else is allowed. Not with egress_allow */
      "egress_deny"?: undefined | (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules"?: undefined | ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      /** Defaults to the platform's sandboxes.isolation */
      "isolation"?: undefined | "default" | "namespaces" | "gvisor";
      /** Volumes that the sandbox mounts */
      "volumes"?: undefined | ({
        /** Name of a volume of the workspace */
        "name": string;
        /** Folder in the sandbox; created if it is missing */
        "path": string;
        /** false by default; several sandboxes may mount it read-only */
        "read_only"?: undefined | boolean;
      })[];
      /** Buckets that the sandbox mounts as folders */
      "mounts"?: undefined | ({
        /** Name of a bucket of the workspace */
        "bucket": string;
        /** Folder of the bucket; all of it by default */
        "prefix"?: undefined | string;
        /** Folder in the sandbox; created if it is missing */
        "path": string;
        /** false by default */
        "read_only"?: undefined | boolean;
      })[];
      "cluster"?: undefined | string | null;
      "idle_timeout_seconds"?: undefined | number;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry"?: undefined | "delete" | "pause" | "stop";
      "max_lifetime_seconds"?: undefined | number;
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain"?: undefined | "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost"?: undefined | "wait" | "restore";
    };
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Get a sandbox; wait_for waits for a state until the timeout */
  'GET /containers/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait_for"?: undefined | "creating" | "running" | "stopped" | "error";
      "timeout"?: undefined | number;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Change the expiry or the labels of a sandbox */
  'PATCH /containers/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "expires_in_seconds"?: undefined | number | null;
      "labels"?: undefined | Record<string, string>;
    };
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Delete a sandbox and its files, in any state */
  'DELETE /containers/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "volumes"?: undefined | "keep" | "delete";
      "drop_data"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "id": string;
      "deleted": true;
      "message": string;
      /** Names of the volumes that were deleted */
      "deleted_volumes"?: undefined | (string)[];
      /** Names of the buckets that were deleted */
      "deleted_buckets"?: undefined | (string)[];
    };
  };
  /** Replace the allowed egress of a sandbox, running or not; its open connections end */
  'PUT /containers/{id}/egress': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "egress_allow"?: undefined | (string)[] | null;
      /** Denied IPv4 addresses and ranges; everything else is allowed. Not with egress_allow */
      "egress_deny"?: undefined | (string)[];
    };
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Replace the rules that add secrets to requests of a sandbox, also while it runs */
  'PUT /containers/{id}/egress/rules': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
    };
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** List or stream the events of a sandbox */
  'GET /containers/{id}/events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "format"?: undefined | "sse" | "json";
      "cursor"?: undefined | string;
      "page_size"?: undefined | number;
      "last_event_id"?: undefined | string;
    };
    body: undefined;
    answer: {
      "events": ({
        /** Increases by one with each event of the workspace */
        "id": number;
        "sandbox_id": string;
        "type": "created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved";
        "at": string;
        "details": Record<string, unknown>;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** Run a command and return its output and exit code, or stream the output */
  'POST /containers/{id}/exec': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "command"?: undefined | string | (string)[];
      "cmd"?: undefined | string | (string)[];
      "workdir"?: undefined | string;
      "cwd"?: undefined | string;
      "env"?: undefined | Record<string, string> | (string)[];
      /** User of the image, by name or number; root by default */
      "user"?: undefined | string;
      /** Standard input of the command; empty by default */
      "stdin"?: undefined | string;
      "stdin_encoding"?: undefined | "utf-8" | "base64";
      "encoding"?: undefined | "utf-8" | "base64";
      /** 60 by default */
      "timeout_seconds"?: undefined | number;
      /** Stream the output as server-sent events */
      "stream"?: undefined | boolean;
    };
    answer: {
      "command": string | (string)[];
      "stdout": string;
      "stderr": string;
      /** stdout and stderr combined, in order of arrival */
      "output": string;
      "encoding": "utf-8" | "base64";
      /** 128 + the signal number if a signal ended the command; -1 on timeout */
      "exit_code": number;
      "signal": string | null;
      "duration_ms": number;
      /** Whether any output was cut; its beginning and end are kept */
      "truncated": boolean;
      /** Size before any cut */
      "stdout_bytes": number;
      "stderr_bytes": number;
      "timed_out": boolean;
    };
  };
  /** Download a file, as bytes or as base64 in JSON (format=json), or a folder (archive=tar) */
  'GET /containers/{id}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "format"?: undefined | "raw" | "json";
      "archive"?: undefined | "tar";
    };
    body: undefined;
    answer: undefined;
  };
  /** Download a file, as bytes or as base64 in JSON (format=json), or a folder (archive=tar) */
  'HEAD /containers/{id}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "format"?: undefined | "raw" | "json";
      "archive"?: undefined | "tar";
    };
    body: undefined;
    answer: undefined;
  };
  /** Write a file atomically; 201 if it is new, 200 if it replaced a file */
  'POST /containers/{id}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
      "mode"?: undefined | string;
      "append"?: undefined | boolean;
      "create_dirs"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "path": string;
      "filename": string;
      "size": number;
      "mode": string;
      "mod_time": string;
      /** SHA-256 of the bytes sent */
      "sha256": string;
      /** Current ETag of the file, as a read returns it; for use in `If-Match` */
      "etag": string;
      "created": boolean;
      "message": string;
    };
  };
  /** Delete a file, or a directory with its contents */
  'DELETE /containers/{id}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "recursive"?: undefined | boolean;
      "missing_ok"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "path": string;
      "deleted": boolean;
      "message": string;
    };
  };
  /** Unpack a tar archive (plain or gzip) into a folder, which is created if missing */
  'PUT /containers/{id}/files/archive': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: undefined;
    answer: {
      "path": string;
      "entries": number;
      /** Total size of the files in the archive */
      "size_bytes": number;
    };
  };
  /** List a directory, directories first */
  'GET /containers/{id}/files/list': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "format"?: undefined | "object" | "array";
    };
    body: undefined;
    answer: {
      "path": string;
      "files": ({
        "name": string;
        /** Bytes of the name in base64, if they are not valid UTF-8 */
        "name_b64"?: undefined | string;
        "path": string;
        "size": number;
        /** Such as -rw-r--r-- */
        "mode": string;
        "mode_octal": string;
        "mod_time": string;
        "is_dir": boolean;
        "type": "file" | "dir" | "symlink" | "other";
        "link_target": string | null;
        "uid": number;
        "gid": number;
      })[];
      /** Entries on this page */
      "count": number;
      /** Entries in the directory */
      "total": number;
      "next_cursor": string | null;
    } | ({
      "name": string;
      /** Bytes of the name in base64, if they are not valid UTF-8 */
      "name_b64"?: undefined | string;
      "path": string;
      "size": number;
      /** Such as -rw-r--r-- */
      "mode": string;
      "mode_octal": string;
      "mod_time": string;
      "is_dir": boolean;
      "type": "file" | "dir" | "symlink" | "other";
      "link_target": string | null;
      "uid": number;
      "gid": number;
    })[];
  };
  /** Create a directory and its parents; takes the path in the body or the query */
  'POST /containers/{id}/files/mkdir': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: {
      "path": string;
      /** Octal digits such as "0644", or a number */
      "mode"?: undefined | string | number;
      "parents"?: undefined | boolean;
    } | null;
    answer: {
      "path": string;
      "created": boolean;
      "message": string;
    };
  };
  /** Rename or move within the sandbox, atomically */
  'POST /containers/{id}/files/move': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "path": string;
      "target": string;
      "overwrite"?: undefined | boolean;
    };
    answer: {
      "path": string;
      "message": string;
    };
  };
  /** Get the attributes of a path without following links */
  'GET /containers/{id}/files/stat': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: undefined;
    answer: {
      "name": string;
      /** Bytes of the name in base64, if they are not valid UTF-8 */
      "name_b64"?: undefined | string;
      "path": string;
      "size": number;
      /** Such as -rw-r--r-- */
      "mode": string;
      "mode_octal": string;
      "mod_time": string;
      "is_dir": boolean;
      "type": "file" | "dir" | "symlink" | "other";
      "link_target": string | null;
      "uid": number;
      "gid": number;
    };
  };
  /** Stream the changes of a file or folder as server-sent events */
  'GET /containers/{id}/files/watch': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "recursive"?: undefined | boolean;
    };
    body: undefined;
    answer: undefined;
  };
  /** Fork a sandbox: create sandboxes with a copy of its current files, volumes and buckets, all or none */
  'POST /containers/{id}/fork': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait_ms"?: undefined | number;
    };
    body: {
      "name"?: undefined | string;
      /** 1 by default */
      "count"?: undefined | number;
      /** Fork the buckets that the sandbox mounts to write, or share them. Defaults to fork */
      "mounts"?: undefined | "fork" | "share";
    } | null;
    answer: {
      "containers": ({
        "id": string;
        "name": string;
        "image": string;
        "snapshot_id": string | null;
        "template_build_id": string | null;
        "status": "creating" | "running" | "stopped" | "error";
        "state_reason": string | null;
        "error": {
          "code": string;
          "message": string;
          "recoverable": boolean;
        } | null;
        /** RFC 3339, UTC, milliseconds */
        "created_at": string;
        "started_at": string | null;
        "paused_at": string | null;
        "expires_at": string | null;
        /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
        "on_expiry": "delete" | "pause" | "stop";
        /** RFC 3339, UTC, milliseconds */
        "last_activity_at": string;
        "labels": Record<string, string>;
        "environment": Record<string, string>;
        "resources": {
          "cpu": number;
          "memory_mb": number;
          "disk_mb": number;
          "pids": number;
          /** Absent if there are none */
          "gpus"?: undefined | number;
        };
        "driver": string;
        "cluster": string | null;
        "isolation": "namespaces" | "gvisor";
        /** Whether its programs run directly on the host's kernel */
        "shares_kernel": boolean;
        "network": "none" | "egress";
        /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
        "egress_allow": (string)[] | null;
        /** Denied IPv4 ranges, if egress_allow resolves all names */
        "egress_deny": (string)[];
        /** Secrets that are added to requests outside the sandbox */
        "egress_rules": ({
          /** Hostname, such as api.example.com, or *.example.com for all names below it */
          "host": string;
          /** Header to set; instead of query */
          "header"?: undefined | string;
          /** Query parameter to set; instead of header */
          "query"?: undefined | string;
          /** Name of a secret of the workspace */
          "secret": string;
          /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
          "template"?: undefined | string;
          /** Also set it in requests over plain HTTP, which are refused otherwise */
          "insecure"?: undefined | boolean;
        })[];
        "volumes": ({
          "name": string;
          "path": string;
          "read_only": boolean;
        })[];
        "mounts": ({
          "bucket": string;
          "prefix": string;
          "path": string;
          "read_only": boolean;
          /** Bucket that this one was forked from for the sandbox */
          "forked_from"?: undefined | string;
        })[];
        /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
        "on_drain": "stop" | "snapshot" | "move";
        /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
        "on_node_lost": "wait" | "restore";
        "image_progress": {
          /** resolving, downloading, unpacking, or building */
          "stage": string;
          /** Progress as a sentence for people */
          "message": string;
          "source": string;
          "layers": number;
          "layers_done": number;
          /** Compressed bytes to download; 0 if nothing is downloaded */
          "bytes": number;
          "bytes_done": number;
        } | null;
      })[];
      "count": number;
    };
  };
  /** Get the current and recent resource usage of a sandbox; unknown numbers are null */
  'GET /containers/{id}/metrics': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "since"?: undefined | string;
    };
    body: undefined;
    answer: {
      "current": {
        "at": string;
        /** CPUs, averaged since the previous sample */
        "cpu_cores": number | null;
        /** Memory in use, page cache included */
        "memory_bytes": number | null;
        "memory_limit_bytes": number;
        /** Processes and threads */
        "pids": number | null;
        /** Bytes used on its disk */
        "disk_bytes": number | null;
        "disk_limit_bytes": number;
      };
      "samples": ({
        "at": string;
        /** CPUs, averaged since the previous sample */
        "cpu_cores": number | null;
        /** Memory in use, page cache included */
        "memory_bytes": number | null;
        "memory_limit_bytes": number;
        /** Processes and threads */
        "pids": number | null;
        /** Bytes used on its disk */
        "disk_bytes": number | null;
        "disk_limit_bytes": number;
      })[];
    };
  };
  /** Pause a sandbox; its processes freeze and keep their memory, and any access resumes it */
  'POST /containers/{id}/pause': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: Record<string, never> | null;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** List the active port links, without their signatures, and whether every port is open without one */
  'GET /containers/{id}/ports': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "ports": ({
        "id": string;
        "port": number;
        "created_at": string;
        "expires_at": string;
      })[];
      "count": number;
      /** Whether every port is open without a link, as E2B clients can request */
      "public": boolean;
      /** URL of a port, with {port} for its number */
      "url": string;
    };
  };
  /** Create a signed link to a port of the sandbox; anyone with the link can use it */
  'POST /containers/{id}/ports': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "port": number;
      /** 3600 by default */
      "expires_in_seconds"?: undefined | number;
    };
    answer: {
      "id": string;
      "port": number;
      /** URL with a separate origin for this port of this sandbox */
      "url": string;
      /** The same port on the platform's host, without cookies and in an opaque origin */
      "path_url": string;
      "expires_at": string;
    };
  };
  /** Open every port of the sandbox to anyone who knows its address, or require links again */
  'PUT /containers/{id}/ports': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "public": boolean;
    };
    answer: {
      "public": boolean;
      /** URL of a port, with {port} for its number */
      "url": string;
    };
  };
  /** Revoke all port links of the sandbox, and public access to its ports, and close their connections */
  'DELETE /containers/{id}/ports': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      /** Revoked links */
      "revoked": number;
    };
  };
  /** Revoke the links to one port and close their connections */
  'DELETE /containers/{id}/ports/{port}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      /** Revoked links */
      "revoked": number;
    };
  };
  /** List running processes that were started through the API: commands, terminals, background processes */
  'GET /containers/{id}/processes': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "processes": ({
        "pid": number;
        "tag": string | null;
        "argv": (string)[];
        "cwd": string;
        /** Whether it runs on a terminal */
        "tty": boolean;
        "started_at": string;
      })[];
      "count": number;
    };
  };
  /** Send a signal to a process and its children */
  'POST /containers/{id}/processes/{pid}/signal': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "signal": "SIGHUP" | "SIGINT" | "SIGQUIT" | "SIGKILL" | "SIGTERM" | "SIGUSR1" | "SIGUSR2" | "SIGSTOP" | "SIGCONT";
    };
    answer: {
      "pid": number;
      "signal": string;
    };
  };
  /** Resume a paused sandbox; its processes continue where they stopped */
  'POST /containers/{id}/resume': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: Record<string, never> | null;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Create a snapshot of a sandbox's files; its processes freeze during the copy */
  'POST /containers/{id}/snapshots': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "name"?: undefined | string;
    } | null;
    answer: {
      "id": string;
      "name": string;
      /** Source sandbox; it may no longer exist */
      "sandbox_id": string;
      "image": string;
      /** Connected cluster in which it was taken; null: by a driver of the platform. Connected clusters of the workspace can use each other's snapshots */
      "cluster_id": string | null;
      /** Disk in MiB of sandboxes created from it */
      "disk_mb": number;
      /** Size on disk */
      "size_bytes": number;
      "created_at": string;
      /** Time since which every node can create sandboxes from it; null: only its own node */
      "archived_at": string | null;
      /** Why the last attempt to archive it failed; the next one follows within a few minutes */
      "archive_error": string | null;
    };
  };
  /** Start a stopped sandbox, or recover one in error with its files */
  'POST /containers/{id}/start': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait_ms"?: undefined | number;
    };
    body: Record<string, never> | null;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Stop a sandbox; its files stay */
  'POST /containers/{id}/stop': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: Record<string, never> | null;
    answer: {
      "id": string;
      "name": string;
      "image": string;
      "snapshot_id": string | null;
      "template_build_id": string | null;
      "status": "creating" | "running" | "stopped" | "error";
      "state_reason": string | null;
      "error": {
        "code": string;
        "message": string;
        "recoverable": boolean;
      } | null;
      /** RFC 3339, UTC, milliseconds */
      "created_at": string;
      "started_at": string | null;
      "paused_at": string | null;
      "expires_at": string | null;
      /** What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires */
      "on_expiry": "delete" | "pause" | "stop";
      /** RFC 3339, UTC, milliseconds */
      "last_activity_at": string;
      "labels": Record<string, string>;
      "environment": Record<string, string>;
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
        /** Absent if there are none */
        "gpus"?: undefined | number;
      };
      "driver": string;
      "cluster": string | null;
      "isolation": "namespaces" | "gvisor";
      /** Whether its programs run directly on the host's kernel */
      "shares_kernel": boolean;
      "network": "none" | "egress";
      /** Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses */
      "egress_allow": (string)[] | null;
      /** Denied IPv4 ranges, if egress_allow resolves all names */
      "egress_deny": (string)[];
      /** Secrets that are added to requests outside the sandbox */
      "egress_rules": ({
        /** Hostname, such as api.example.com, or *.example.com for all names below it */
        "host": string;
        /** Header to set; instead of query */
        "header"?: undefined | string;
        /** Query parameter to set; instead of header */
        "query"?: undefined | string;
        /** Name of a secret of the workspace */
        "secret": string;
        /** Template of the value; {value} is replaced with the secret. Defaults to {value} */
        "template"?: undefined | string;
        /** Also set it in requests over plain HTTP, which are refused otherwise */
        "insecure"?: undefined | boolean;
      })[];
      "volumes": ({
        "name": string;
        "path": string;
        "read_only": boolean;
      })[];
      "mounts": ({
        "bucket": string;
        "prefix": string;
        "path": string;
        "read_only": boolean;
        /** Bucket that this one was forked from for the sandbox */
        "forked_from"?: undefined | string;
      })[];
      /** What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its files; stop by default */
      "on_drain": "stop" | "snapshot" | "move";
      /** What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the sandbox on another node; wait by default */
      "on_node_lost": "wait" | "restore";
      "image_progress": {
        /** resolving, downloading, unpacking, or building */
        "stage": string;
        /** Progress as a sentence for people */
        "message": string;
        "source": string;
        "layers": number;
        "layers_done": number;
        /** Compressed bytes to download; 0 if nothing is downloaded */
        "bytes": number;
        "bytes_done": number;
      } | null;
    };
  };
  /** Create a single-use ticket, valid for 30 s, that opens a terminal at /ws/terminal/ID?ticket= */
  'POST /containers/{id}/terminal/tickets': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "ticket": string;
      "expires_at": string;
    };
  };
  /** List terminal sessions, including those without a client */
  'GET /containers/{id}/terminals': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "terminals": ({
        "session": string;
        "pid": number;
        "shell": string;
        "cols": number;
        "rows": number;
        /** Number of attached clients */
        "attached": number;
        /** Whether the shell has exited; its last output and exit code are kept for a client */
        "exited": boolean;
        "started_at": string;
      })[];
      "count": number;
    };
  };
  /** End a terminal session and hang up its shell */
  'DELETE /containers/{id}/terminals/{session}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "session": string;
      "deleted": true;
    };
  };
  /** List or stream the events of all sandboxes of the workspace */
  'GET /events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "format"?: undefined | "sse" | "json";
      "cursor"?: undefined | string;
      "page_size"?: undefined | number;
      "last_event_id"?: undefined | string;
    };
    body: undefined;
    answer: {
      "events": ({
        /** Increases by one with each event of the workspace */
        "id": number;
        "sandbox_id": string;
        "type": "created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved";
        "at": string;
        "details": Record<string, unknown>;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** List available images; only popular ones unless all=true */
  'GET /images': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "all"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "images": ({
        "name": string;
        "display_name": string;
        "description": string;
        "category": string;
        "tags": (string)[];
        "popular": boolean;
        "default": boolean;
        "aliases": (string)[];
        "cached": boolean;
        "drivers": (string)[];
        "progress": {
          /** resolving, downloading, unpacking, or building */
          "stage": string;
          /** Progress as a sentence for people */
          "message": string;
          "source": string;
          "layers": number;
          "layers_done": number;
          /** Compressed bytes to download; 0 if nothing is downloaded */
          "bytes": number;
          "bytes_done": number;
        } | null;
      })[];
      "categories": Record<string, (string)[]>;
      "popular": (string)[];
      "count": number;
    };
  };
  /** List the connected clusters that run sandboxes */
  'GET /sandbox-clusters': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "clusters": ({
        "id": string;
        "name": string;
        /** Whether its agent has a connection now */
        "connected": boolean;
        /** Capabilities that sandboxes in this cluster lack, such as disk_limit, gpus, mounts or volumes */
        "missing_capabilities": (string)[];
      })[];
      "count": number;
    };
  };
  /** List secrets by name, without their values */
  'GET /secrets': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "secrets": ({
        "name": string;
        /** Version of the value, from 1 */
        "version": number;
        "created_at": string;
        "updated_at": string;
      })[];
      "count": number;
    };
  };
  /** Create a secret */
  'POST /secrets': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Letters, digits, _, . and -, beginning with a letter or _; at most 128 */
      "name": string;
      /** Printable ASCII, at most 8192 characters; never returned */
      "value": string;
    };
    answer: {
      "name": string;
      /** Version of the value, from 1 */
      "version": number;
      "created_at": string;
      "updated_at": string;
    };
  };
  /** Get a secret, without its value */
  'GET /secrets/{name}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "name": string;
      /** Version of the value, from 1 */
      "version": number;
      "created_at": string;
      "updated_at": string;
    };
  };
  /** Replace the value of a secret; requests get the new one within two seconds */
  'PUT /secrets/{name}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Printable ASCII, at most 8192 characters; never returned */
      "value": string;
    };
    answer: {
      "name": string;
      /** Version of the value, from 1 */
      "version": number;
      "created_at": string;
      "updated_at": string;
    };
  };
  /** Delete a secret; requests stop carrying it within two seconds */
  'DELETE /secrets/{name}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "name": string;
      "deleted": true;
    };
  };
  /** List snapshots, newest first */
  'GET /snapshots': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "sandbox_id"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "snapshots": ({
        "id": string;
        "name": string;
        /** Source sandbox; it may no longer exist */
        "sandbox_id": string;
        "image": string;
        /** Connected cluster in which it was taken; null: by a driver of the platform. Connected clusters of the workspace can use each other's snapshots */
        "cluster_id": string | null;
        /** Disk in MiB of sandboxes created from it */
        "disk_mb": number;
        /** Size on disk */
        "size_bytes": number;
        "created_at": string;
        /** Time since which every node can create sandboxes from it; null: only its own node */
        "archived_at": string | null;
        /** Why the last attempt to archive it failed; the next one follows within a few minutes */
        "archive_error": string | null;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** Get a snapshot */
  'GET /snapshots/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      /** Source sandbox; it may no longer exist */
      "sandbox_id": string;
      "image": string;
      /** Connected cluster in which it was taken; null: by a driver of the platform. Connected clusters of the workspace can use each other's snapshots */
      "cluster_id": string | null;
      /** Disk in MiB of sandboxes created from it */
      "disk_mb": number;
      /** Size on disk */
      "size_bytes": number;
      "created_at": string;
      /** Time since which every node can create sandboxes from it; null: only its own node */
      "archived_at": string | null;
      /** Why the last attempt to archive it failed; the next one follows within a few minutes */
      "archive_error": string | null;
    };
  };
  /** Delete a snapshot; sandboxes created from it are not affected */
  'DELETE /snapshots/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "deleted": true;
      "message": string;
    };
  };
  /** Show where sandboxes are reached over SSH */
  'GET /ssh': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      /** Whether `sandboxes.ssh.port` is set */
      "enabled": boolean;
      "port": number | null;
      /** Public host key, as in `known_hosts` */
      "host_key": string | null;
      /** SHA-256 fingerprint of the host key, as OpenSSH shows it */
      "fingerprint": string | null;
    };
  };
  /** List templates by name, each with its newest build */
  'GET /templates': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "templates": ({
        "id": string;
        "name": string;
        "created_at": string;
        "tags": ({
          "tag": string;
          "build_id": string;
          "created_at": string;
        })[];
        /** Newest first */
        "builds": ({
          "id": string;
          "template_id": string;
          "name": string;
          "status": "waiting" | "building" | "ready" | "error";
          /** Tags assigned once the build is ready */
          "tags": (string)[];
          "error": {
            "message": string;
            "step": number | null;
            "line": number | null;
          } | null;
          "steps": number | null;
          "cached_steps": number | null;
          "user": string | null;
          "workdir": string | null;
          "start_command": (string)[] | null;
          "ready_command": string | null;
          "ports": (number)[];
          "resources": {
            "cpu": number;
            "memory_mb": number;
            "disk_mb": number;
            "pids": number;
          };
          "node": string;
          /** Whether sandboxes can be created from it */
          "available": boolean;
          "created_at": string;
          "started_at": string | null;
          "finished_at": string | null;
          "archived_at": string | null;
          "archive_error": string | null;
        })[];
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** Check whether files are uploaded */
  'GET /templates/files/{hash}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "hash": string;
      "present": boolean;
    };
  };
  /** Upload files for builds as a tar archive, plain or gzip, by its SHA-256 */
  'PUT /templates/files/{hash}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "hash": string;
      "size_bytes": number;
    };
  };
  /** Check a Dockerfile and list the files that its build needs */
  'POST /templates/plan': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Text of a Dockerfile */
      "dockerfile": string;
      "build_args"?: undefined | Record<string, string>;
      /** Stage of the Dockerfile to build; the last one by default */
      "target"?: undefined | string;
    };
    answer: {
      "steps": number;
      /** Sources of each COPY from the context, in order; files of the build takes an archive for each */
      "copies": ({
        "sources": (string)[];
        "line": number | null;
      })[];
    };
  };
  /** Get a template */
  'GET /templates/{name}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      "created_at": string;
      "tags": ({
        "tag": string;
        "build_id": string;
        "created_at": string;
      })[];
      /** Newest first */
      "builds": ({
        "id": string;
        "template_id": string;
        "name": string;
        "status": "waiting" | "building" | "ready" | "error";
        /** Tags assigned once the build is ready */
        "tags": (string)[];
        "error": {
          "message": string;
          "step": number | null;
          "line": number | null;
        } | null;
        "steps": number | null;
        "cached_steps": number | null;
        "user": string | null;
        "workdir": string | null;
        "start_command": (string)[] | null;
        "ready_command": string | null;
        "ports": (number)[];
        "resources": {
          "cpu": number;
          "memory_mb": number;
          "disk_mb": number;
          "pids": number;
        };
        "node": string;
        /** Whether sandboxes can be created from it */
        "available": boolean;
        "created_at": string;
        "started_at": string | null;
        "finished_at": string | null;
        "archived_at": string | null;
        "archive_error": string | null;
      })[];
    };
  };
  /** Delete a template with its builds; sandboxes created from it are not affected */
  'DELETE /templates/{name}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "name": string;
      "deleted": true;
    };
  };
  /** Build a template from an image, a Dockerfile or steps; it is created if it is new */
  'POST /templates/{name}/builds': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Image of the catalog, or a template; not with a Dockerfile */
      "from"?: undefined | string;
      "steps"?: undefined | ({
        /** Line for /bin/sh, or program and arguments */
        "run": string | (string)[];
        /** User for this command only */
        "user"?: undefined | string;
      } | {
        "copy": {
          "sources": (string)[];
          "destination": string;
          /** User, or user:group; root by default */
          "owner"?: undefined | string;
          /** Octal, such as 755 */
          "mode"?: undefined | string;
          /** SHA-256 of an archive that was uploaded to /api/templates/files */
          "files"?: undefined | string;
          /** Image or template to copy from, instead of uploaded files */
          "from"?: undefined | string;
        };
      } | {
        "env": Record<string, string>;
      } | {
        "workdir": string;
      } | {
        "user": string;
      } | {
        "expose": (number)[];
      })[];
      /** Text of a Dockerfile */
      "dockerfile"?: undefined | string;
      "build_args"?: undefined | Record<string, string>;
      /** Stage of the Dockerfile to build; the last one by default */
      "target"?: undefined | string;
      /** Uploaded archive of each COPY of the Dockerfile that takes files of the context, in order */
      "files"?: undefined | (string)[];
      /** latest by default */
      "tags"?: undefined | (string)[];
      /** Line for /bin/sh, or program and arguments */
      "start_command"?: undefined | string | (string)[];
      /** Line for /bin/sh; the build waits until it succeeds */
      "ready_command"?: undefined | string;
      /** Resources of the build, and default resources of sandboxes created from it */
      "resources"?: undefined | {
        "cpu"?: undefined | number;
        "memory_mb"?: undefined | number;
        "disk_mb"?: undefined | number;
        "pids"?: undefined | number;
      };
      /** Run all steps again */
      "no_cache"?: undefined | boolean;
    };
    answer: {
      "id": string;
      "template_id": string;
      "name": string;
      "status": "waiting" | "building" | "ready" | "error";
      /** Tags assigned once the build is ready */
      "tags": (string)[];
      "error": {
        "message": string;
        "step": number | null;
        "line": number | null;
      } | null;
      "steps": number | null;
      "cached_steps": number | null;
      "user": string | null;
      "workdir": string | null;
      "start_command": (string)[] | null;
      "ready_command": string | null;
      "ports": (number)[];
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "node": string;
      /** Whether sandboxes can be created from it */
      "available": boolean;
      "created_at": string;
      "started_at": string | null;
      "finished_at": string | null;
      "archived_at": string | null;
      "archive_error": string | null;
    };
  };
  /** Get a build */
  'GET /templates/{name}/builds/{build}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "template_id": string;
      "name": string;
      "status": "waiting" | "building" | "ready" | "error";
      /** Tags assigned once the build is ready */
      "tags": (string)[];
      "error": {
        "message": string;
        "step": number | null;
        "line": number | null;
      } | null;
      "steps": number | null;
      "cached_steps": number | null;
      "user": string | null;
      "workdir": string | null;
      "start_command": (string)[] | null;
      "ready_command": string | null;
      "ports": (number)[];
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "node": string;
      /** Whether sandboxes can be created from it */
      "available": boolean;
      "created_at": string;
      "started_at": string | null;
      "finished_at": string | null;
      "archived_at": string | null;
      "archive_error": string | null;
    };
  };
  /** Cancel a build */
  'POST /templates/{name}/builds/{build}/cancel': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "template_id": string;
      "name": string;
      "status": "waiting" | "building" | "ready" | "error";
      /** Tags assigned once the build is ready */
      "tags": (string)[];
      "error": {
        "message": string;
        "step": number | null;
        "line": number | null;
      } | null;
      "steps": number | null;
      "cached_steps": number | null;
      "user": string | null;
      "workdir": string | null;
      "start_command": (string)[] | null;
      "ready_command": string | null;
      "ports": (number)[];
      "resources": {
        "cpu": number;
        "memory_mb": number;
        "disk_mb": number;
        "pids": number;
      };
      "node": string;
      /** Whether sandboxes can be created from it */
      "available": boolean;
      "created_at": string;
      "started_at": string | null;
      "finished_at": string | null;
      "archived_at": string | null;
      "archive_error": string | null;
    };
  };
  /** Read the log of a build; wait_ms waits for new lines while it runs */
  'GET /templates/{name}/builds/{build}/logs': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "after"?: undefined | number;
      "limit"?: undefined | number;
      "wait_ms"?: undefined | number;
    };
    body: undefined;
    answer: {
      "lines": ({
        "sequence": number;
        "at": string;
        "level": "info" | "warn" | "error";
        "step": number | null;
        "message": string;
      })[];
      /** Value of after for the next request */
      "next": number;
      "status": "waiting" | "building" | "ready" | "error";
      "error": {
        "message": string;
        "step": number | null;
        "line": number | null;
      } | null;
    };
  };
  /** Give a build a tag */
  'PUT /templates/{name}/tags/{tag}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Tag or ID of the build */
      "target": string;
    };
    answer: {
      "tag": string;
      "build_id": string;
    };
  };
  /** Remove a tag; the image of a build without one is removed after an hour */
  'DELETE /templates/{name}/tags/{tag}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "tag": string;
      "deleted": true;
    };
  };
  /** List snapshots of volumes, newest first */
  'GET /volume-snapshots': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "volume_id"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "snapshots": ({
        "id": string;
        "name": string;
        /** Volume that it is a copy of; it may no longer exist */
        "volume_id": string | null;
        /** Minimum size in MiB of volumes created from it */
        "size_mb": number;
        /** Size on disk */
        "size_bytes": number;
        "created_at": string;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** Get a snapshot of a volume */
  'GET /volume-snapshots/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      /** Volume that it is a copy of; it may no longer exist */
      "volume_id": string | null;
      /** Minimum size in MiB of volumes created from it */
      "size_mb": number;
      /** Size on disk */
      "size_bytes": number;
      "created_at": string;
    };
  };
  /** Delete a snapshot of a volume; volumes created from it are not affected */
  'DELETE /volume-snapshots/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "deleted": true;
    };
  };
  /** List volumes, newest first */
  'GET /volumes': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "volumes": ({
        "id": string;
        "name": string;
        /** Size in MiB; a full volume fails writes */
        "size_mb": number;
        /** Volume or volume snapshot that it was created from; it may no longer exist */
        "source_id": string | null;
        /** Node that stores the volume; sandboxes that mount it run there */
        "node": string;
        /** Sandboxes that mount it, stopped ones too */
        "mounted_by": ({
          "sandbox_id": string;
          "sandbox_name": string;
          "read_only": boolean;
          /** Whether the sandbox is starting, running or paused */
          "active": boolean;
        })[];
        "created_at": string;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** Create a volume, empty or from a volume snapshot */
  'POST /volumes': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Letters, digits, _ and -, beginning with a letter or digit; at most 64 */
      "name": string;
      /** Size in MiB */
      "size_mb"?: undefined | number;
      /** Volume snapshot to copy */
      "snapshot_id"?: undefined | string;
    };
    answer: {
      "id": string;
      "name": string;
      /** Size in MiB; a full volume fails writes */
      "size_mb": number;
      /** Volume or volume snapshot that it was created from; it may no longer exist */
      "source_id": string | null;
      /** Node that stores the volume; sandboxes that mount it run there */
      "node": string;
      /** Sandboxes that mount it, stopped ones too */
      "mounted_by": ({
        "sandbox_id": string;
        "sandbox_name": string;
        "read_only": boolean;
        /** Whether the sandbox is starting, running or paused */
        "active": boolean;
      })[];
      "created_at": string;
    };
  };
  /** Get a volume */
  'GET /volumes/{name}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      /** Size in MiB; a full volume fails writes */
      "size_mb": number;
      /** Volume or volume snapshot that it was created from; it may no longer exist */
      "source_id": string | null;
      /** Node that stores the volume; sandboxes that mount it run there */
      "node": string;
      /** Sandboxes that mount it, stopped ones too */
      "mounted_by": ({
        "sandbox_id": string;
        "sandbox_name": string;
        "read_only": boolean;
        /** Whether the sandbox is starting, running or paused */
        "active": boolean;
      })[];
      "created_at": string;
    };
  };
  /** Make a volume larger */
  'PATCH /volumes/{name}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Size in MiB */
      "size_mb": number;
    };
    answer: {
      "id": string;
      "name": string;
      /** Size in MiB; a full volume fails writes */
      "size_mb": number;
      /** Volume or volume snapshot that it was created from; it may no longer exist */
      "source_id": string | null;
      /** Node that stores the volume; sandboxes that mount it run there */
      "node": string;
      /** Sandboxes that mount it, stopped ones too */
      "mounted_by": ({
        "sandbox_id": string;
        "sandbox_name": string;
        "read_only": boolean;
        /** Whether the sandbox is starting, running or paused */
        "active": boolean;
      })[];
      "created_at": string;
    };
  };
  /** Delete a volume that no sandbox mounts, and its files; its snapshots stay */
  'DELETE /volumes/{name}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "name": string;
      "deleted": true;
    };
  };
  /** Download a file, as bytes or as base64 in JSON (format=json), or a folder (archive=tar) */
  'GET /volumes/{name}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "format"?: undefined | "raw" | "json";
      "archive"?: undefined | "tar";
    };
    body: undefined;
    answer: undefined;
  };
  /** Download a file, as bytes or as base64 in JSON (format=json), or a folder (archive=tar) */
  'HEAD /volumes/{name}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "format"?: undefined | "raw" | "json";
      "archive"?: undefined | "tar";
    };
    body: undefined;
    answer: undefined;
  };
  /** Write a file atomically; 201 if it is new, 200 if it replaced a file */
  'POST /volumes/{name}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
      "mode"?: undefined | string;
      "append"?: undefined | boolean;
      "create_dirs"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "path": string;
      "filename": string;
      "size": number;
      "mode": string;
      "mod_time": string;
      /** SHA-256 of the bytes sent */
      "sha256": string;
      /** Current ETag of the file, as a read returns it; for use in `If-Match` */
      "etag": string;
      "created": boolean;
      "message": string;
    };
  };
  /** Change the owner and the permissions of a file or directory; follows links */
  'PATCH /volumes/{name}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: {
      /** Octal digits such as "0644", or a number */
      "mode"?: undefined | string | number;
      "uid"?: undefined | number;
      "gid"?: undefined | number;
    };
    answer: {
      "name": string;
      /** Bytes of the name in base64, if they are not valid UTF-8 */
      "name_b64"?: undefined | string;
      "path": string;
      "size": number;
      /** Such as -rw-r--r-- */
      "mode": string;
      "mode_octal": string;
      "mod_time": string;
      "is_dir": boolean;
      "type": "file" | "dir" | "symlink" | "other";
      "link_target": string | null;
      "uid": number;
      "gid": number;
    };
  };
  /** Delete a file, or a directory with its contents */
  'DELETE /volumes/{name}/files': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path": string;
      "recursive"?: undefined | boolean;
      "missing_ok"?: undefined | boolean;
    };
    body: undefined;
    answer: {
      "path": string;
      "deleted": boolean;
      "message": string;
    };
  };
  /** Unpack a tar archive (plain or gzip) into a folder, which is created if missing */
  'PUT /volumes/{name}/files/archive': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: undefined;
    answer: {
      "path": string;
      "entries": number;
      /** Total size of the files in the archive */
      "size_bytes": number;
    };
  };
  /** List a directory, directories first */
  'GET /volumes/{name}/files/list': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "format"?: undefined | "object" | "array";
    };
    body: undefined;
    answer: {
      "path": string;
      "files": ({
        "name": string;
        /** Bytes of the name in base64, if they are not valid UTF-8 */
        "name_b64"?: undefined | string;
        "path": string;
        "size": number;
        /** Such as -rw-r--r-- */
        "mode": string;
        "mode_octal": string;
        "mod_time": string;
        "is_dir": boolean;
        "type": "file" | "dir" | "symlink" | "other";
        "link_target": string | null;
        "uid": number;
        "gid": number;
      })[];
      /** Entries on this page */
      "count": number;
      /** Entries in the directory */
      "total": number;
      "next_cursor": string | null;
    } | ({
      "name": string;
      /** Bytes of the name in base64, if they are not valid UTF-8 */
      "name_b64"?: undefined | string;
      "path": string;
      "size": number;
      /** Such as -rw-r--r-- */
      "mode": string;
      "mode_octal": string;
      "mod_time": string;
      "is_dir": boolean;
      "type": "file" | "dir" | "symlink" | "other";
      "link_target": string | null;
      "uid": number;
      "gid": number;
    })[];
  };
  /** Create a directory and its parents; takes the path in the body or the query */
  'POST /volumes/{name}/files/mkdir': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: {
      "path": string;
      /** Octal digits such as "0644", or a number */
      "mode"?: undefined | string | number;
      "parents"?: undefined | boolean;
    } | null;
    answer: {
      "path": string;
      "created": boolean;
      "message": string;
    };
  };
  /** Rename or move within the volume, atomically */
  'POST /volumes/{name}/files/move': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "path": string;
      "target": string;
      "overwrite"?: undefined | boolean;
    };
    answer: {
      "path": string;
      "message": string;
    };
  };
  /** Get the attributes of a path without following links */
  'GET /volumes/{name}/files/stat': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "path"?: undefined | string;
    };
    body: undefined;
    answer: {
      "name": string;
      /** Bytes of the name in base64, if they are not valid UTF-8 */
      "name_b64"?: undefined | string;
      "path": string;
      "size": number;
      /** Such as -rw-r--r-- */
      "mode": string;
      "mode_octal": string;
      "mod_time": string;
      "is_dir": boolean;
      "type": "file" | "dir" | "symlink" | "other";
      "link_target": string | null;
      "uid": number;
      "gid": number;
    };
  };
  /** Create a snapshot of a volume; processes of a sandbox that writes to it freeze during the copy */
  'POST /volumes/{name}/snapshots': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Letters, digits, _ and -, beginning with a letter or digit; at most 64 */
      "name"?: undefined | string;
    } | null;
    answer: {
      "id": string;
      "name": string;
      /** Volume that it is a copy of; it may no longer exist */
      "volume_id": string | null;
      /** Minimum size in MiB of volumes created from it */
      "size_mb": number;
      /** Size on disk */
      "size_bytes": number;
      "created_at": string;
    };
  };
  /** List webhooks of sandbox events, without their secrets */
  'GET /webhooks': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "webhooks": ({
        "id": string;
        /** Receiver of the requests; http or https, at a public address unless the operator allows others */
        "url": string;
        "description": string;
        "events": ("created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved")[] | null;
        /** A webhook that is enabled again receives only new events */
        "enabled": boolean;
        "disabled_reason": string | null;
        "failing_since": string | null;
        "last_error": string | null;
        /** Events that were removed from the log before they were delivered */
        "missed_events": number;
        "created_at": string;
        "updated_at": string;
      })[];
      "count": number;
    };
  };
  /** Create a webhook; its secret is returned only once */
  'POST /webhooks': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Receiver of the requests; http or https, at a public address unless the operator allows others */
      "url": string;
      "description"?: undefined | string;
      "events"?: undefined | ("created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved")[] | null;
      /** A webhook that is enabled again receives only new events */
      "enabled"?: undefined | boolean;
    };
    answer: {
      "id": string;
      /** Receiver of the requests; http or https, at a public address unless the operator allows others */
      "url": string;
      "description": string;
      "events": ("created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved")[] | null;
      /** A webhook that is enabled again receives only new events */
      "enabled": boolean;
      "disabled_reason": string | null;
      "failing_since": string | null;
      "last_error": string | null;
      /** Events that were removed from the log before they were delivered */
      "missed_events": number;
      "created_at": string;
      "updated_at": string;
      /** Signs requests, in the format of Standard Webhooks: whsec_ and base64. Shown only now */
      "secret": string;
    };
  };
  /** Get a webhook */
  'GET /webhooks/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      /** Receiver of the requests; http or https, at a public address unless the operator allows others */
      "url": string;
      "description": string;
      "events": ("created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved")[] | null;
      /** A webhook that is enabled again receives only new events */
      "enabled": boolean;
      "disabled_reason": string | null;
      "failing_since": string | null;
      "last_error": string | null;
      /** Events that were removed from the log before they were delivered */
      "missed_events": number;
      "created_at": string;
      "updated_at": string;
    };
  };
  /** Change a webhook */
  'PATCH /webhooks/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Receiver of the requests; http or https, at a public address unless the operator allows others */
      "url"?: undefined | string;
      "description"?: undefined | string;
      "events"?: undefined | ("created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved")[] | null;
      /** A webhook that is enabled again receives only new events */
      "enabled"?: undefined | boolean;
    };
    answer: {
      "id": string;
      /** Receiver of the requests; http or https, at a public address unless the operator allows others */
      "url": string;
      "description": string;
      "events": ("created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved")[] | null;
      /** A webhook that is enabled again receives only new events */
      "enabled": boolean;
      "disabled_reason": string | null;
      "failing_since": string | null;
      "last_error": string | null;
      /** Events that were removed from the log before they were delivered */
      "missed_events": number;
      "created_at": string;
      "updated_at": string;
    };
  };
  /** Delete a webhook and its deliveries */
  'DELETE /webhooks/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "deleted": true;
    };
  };
  /** List the last deliveries of a webhook, newest event first */
  'GET /webhooks/{id}/deliveries': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "cursor"?: undefined | string;
      "page_size"?: undefined | number;
    };
    body: undefined;
    answer: {
      "deliveries": ({
        /** Number of the event */
        "event_id": number;
        "sandbox_id": string;
        "type": "created" | "running" | "stopped" | "error" | "paused" | "resumed" | "deleted" | "snapshot_created" | "oom_killed" | "terminal_opened" | "terminal_closed" | "egress_refused" | "draining" | "snapshot_failed" | "restored" | "moved";
        /** dropped: not delivered before the event was too old */
        "state": "delivered" | "retrying" | "dropped";
        "attempts": number;
        "attempted_at": string;
        "next_attempt_at": string | null;
        "status": number | null;
        "error": string | null;
      })[];
      "count": number;
      "next_cursor": string | null;
    };
  };
  /** Send a stored event again, now, and return the result */
  'POST /webhooks/{id}/deliveries/{event}/redeliver': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "delivered": boolean;
      "status": number | null;
      "error": string | null;
    };
  };
  /** Rotate the signing secret; the previous one also signs for one day */
  'POST /webhooks/{id}/secret': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      /** Signs requests, in the format of Standard Webhooks: whsec_ and base64. Shown only now */
      "secret": string;
      "previous_valid_until": string;
    };
  };
  /** Send an event of the type test now and return the result */
  'POST /webhooks/{id}/test': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "delivered": boolean;
      "status": number | null;
      "error": string | null;
    };
  };
}

export interface ClusterOperations {
  /** List clusters with their live state */
  'GET /': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "clusters": ({
        "id": string;
        "name": string;
        /** pending: no agent has connected yet; offline: three heartbeats missed */
        "status": "pending" | "online" | "offline";
        "connected": boolean;
        "created_at": string;
        "connected_at": string | null;
        "disconnected_at": string | null;
        "last_seen_at": string | null;
        "agent_version": string | null;
        "kubernetes_version": string | null;
        "protocol": "svc" | "contract" | null;
        "capabilities": (string)[];
        "health": string | null;
        "nodes": number | null;
        "pods": number | null;
        "services": number | null;
        "status_at": string | null;
        "heartbeat": {
          "status": string;
          /** Fraction of the nodes' allocatable resources, 0 to 1 */
          "cpu_usage": number;
          "memory_usage": number;
          "active_pods": number;
        } | null;
        "clock_skew_seconds": number | null;
        "warnings": ({
          /** CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a permission; TWO_AGENTS: two agents use the same token and replace each other */
          "code": "CLOCK_SKEW" | "LIMITED" | "TWO_AGENTS";
          "message": string;
        })[];
      })[];
      "next_cursor": string | null;
    };
  };
  /** Register a cluster */
  'POST /': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "name": string;
    };
    answer: {
      "id": string;
      "name": string;
      /** pending: no agent has connected yet; offline: three heartbeats missed */
      "status": "pending" | "online" | "offline";
      "connected": boolean;
      "created_at": string;
      "connected_at": string | null;
      "disconnected_at": string | null;
      "last_seen_at": string | null;
      "agent_version": string | null;
      "kubernetes_version": string | null;
      "protocol": "svc" | "contract" | null;
      "capabilities": (string)[];
      "health": string | null;
      "nodes": number | null;
      "pods": number | null;
      "services": number | null;
      "status_at": string | null;
      "heartbeat": {
        "status": string;
        /** Fraction of the nodes' allocatable resources, 0 to 1 */
        "cpu_usage": number;
        "memory_usage": number;
        "active_pods": number;
      } | null;
      "clock_skew_seconds": number | null;
      "warnings": ({
        /** CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a permission; TWO_AGENTS: two agents use the same token and replace each other */
        "code": "CLOCK_SKEW" | "LIMITED" | "TWO_AGENTS";
        "message": string;
      })[];
      /** Token of the agent; shown only once */
      "token": string;
      "install": {
        "helm": string;
        "kubectl": string;
        /** Command that updates only the token of an installed agent */
        "secret": string;
        /** Command to run first on each node that cannot pull the agent's image; available: whether the platform serves an image */
        "image": {
          "command": string;
          "available": boolean;
        } | null;
      };
    };
  };
  /** Get a cluster */
  'GET /{cluster}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "name": string;
      /** pending: no agent has connected yet; offline: three heartbeats missed */
      "status": "pending" | "online" | "offline";
      "connected": boolean;
      "created_at": string;
      "connected_at": string | null;
      "disconnected_at": string | null;
      "last_seen_at": string | null;
      "agent_version": string | null;
      "kubernetes_version": string | null;
      "protocol": "svc" | "contract" | null;
      "capabilities": (string)[];
      "health": string | null;
      "nodes": number | null;
      "pods": number | null;
      "services": number | null;
      "status_at": string | null;
      "heartbeat": {
        "status": string;
        /** Fraction of the nodes' allocatable resources, 0 to 1 */
        "cpu_usage": number;
        "memory_usage": number;
        "active_pods": number;
      } | null;
      "clock_skew_seconds": number | null;
      "warnings": ({
        /** CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a permission; TWO_AGENTS: two agents use the same token and replace each other */
        "code": "CLOCK_SKEW" | "LIMITED" | "TWO_AGENTS";
        "message": string;
      })[];
    };
  };
  /** Remove a cluster and its history, and stop its agent */
  'DELETE /{cluster}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** List commands, newest first */
  'GET /{cluster}/commands': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "commands": ({
        "id": string;
        "command": string;
        /** queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, superseded or lost */
        "status": string;
        /** Name of the cluster */
        "cluster": string;
        "cluster_id": string;
        "created_at": string;
        "created_by": string;
        "sent_at": string | null;
        "acknowledged_at": string | null;
        "cancel_requested_at": string | null;
        "finished_at": string | null;
        "result": Record<string, unknown> | null;
        "error": {
          "code": string;
          "message": string;
          "details"?: undefined | Record<string, unknown>;
        } | null;
      })[];
      "next_cursor": string | null;
    };
  };
  /** Get a command and its result */
  'GET /{cluster}/commands/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "command": string;
      /** queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, superseded or lost */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Cancel a command; a finished command does not change */
  'DELETE /{cluster}/commands/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "command": string;
      /** queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, superseded or lost */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Stream a command and its output (server-sent events, resumable with Last-Event-ID) */
  'GET /{cluster}/commands/{id}/events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Resize the terminal of a running exec */
  'POST /{cluster}/commands/{id}/resize': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "rows": number;
      "cols": number;
    };
    answer: undefined;
  };
  /** Send standard input to a running exec, or close it */
  'POST /{cluster}/commands/{id}/stdin': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "data": string;
      "encoding"?: undefined | "utf8" | "base64";
      "eof"?: undefined | boolean;
    };
    answer: undefined;
  };
  /** Deploy a manifest */
  'POST /{cluster}/deploy': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait"?: undefined | string;
      "queue_if_offline"?: undefined | boolean;
    };
    body: {
      "project_id": string;
      /** Kubernetes manifest in YAML, with one or more documents */
      "manifest": string;
      "namespace": string;
      "dry_run"?: undefined | boolean;
      "prune"?: undefined | boolean;
      "wait"?: undefined | boolean;
      "timeout_seconds"?: undefined | number;
      "force_conflicts"?: undefined | boolean;
      "revision"?: undefined | string;
      /** Queue the deployment until the agent connects, instead of failing with 503 */
      "queue_if_offline"?: undefined | boolean;
    };
    answer: {
      "id": string;
      "command_id": string;
      "project_id": string;
      "namespace": string;
      "manifest_sha256": string;
      "dry_run": boolean;
      /** queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, superseded or lost */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** List deployments, newest first */
  'GET /{cluster}/deployments': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "project_id"?: undefined | string;
    };
    body: undefined;
    answer: {
      "deployments": ({
        "id": string;
        "command_id": string;
        "project_id": string;
        "namespace": string;
        "manifest_sha256": string;
        "dry_run": boolean;
        /** queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, superseded or lost */
        "status": string;
        /** Name of the cluster */
        "cluster": string;
        "cluster_id": string;
        "created_at": string;
        "created_by": string;
        "sent_at": string | null;
        "acknowledged_at": string | null;
        "cancel_requested_at": string | null;
        "finished_at": string | null;
        "result": Record<string, unknown> | null;
        "error": {
          "code": string;
          "message": string;
          "details"?: undefined | Record<string, unknown>;
        } | null;
      })[];
      "next_cursor": string | null;
    };
  };
  /** Get a deployment and its result */
  'GET /{cluster}/deployments/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "command_id": string;
      "project_id": string;
      "namespace": string;
      "manifest_sha256": string;
      "dry_run": boolean;
      /** queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, superseded or lost */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Cancel an unfinished deployment */
  'DELETE /{cluster}/deployments/{id}': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "id": string;
      "command_id": string;
      "project_id": string;
      "namespace": string;
      "manifest_sha256": string;
      "dry_run": boolean;
      /** queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, superseded or lost */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Stream a deployment (server-sent events, resumable with Last-Event-ID) */
  'GET /{cluster}/deployments/{id}/events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** List the events of a cluster; Accept: text/event-stream streams them, resumable with Last-Event-ID */
  'GET /{cluster}/events': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "event_type"?: undefined | string;
      "namespace"?: undefined | string;
    };
    body: undefined;
    answer: {
      "events": ({
        "sequence": number;
        "event_type": string;
        "namespace": string;
        "resource": string;
        "details": Record<string, unknown>;
        "occurred_at": string;
        "received_at": string;
      })[];
      "next_cursor": string | null;
    };
  };
  /** Run a command in a container */
  'POST /{cluster}/exec': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "wait"?: undefined | string;
    };
    body: {
      "pod": string;
      "namespace": string;
      "container"?: undefined | string;
      "command": (string)[];
      "timeout_seconds"?: undefined | number;
      "max_output_bytes"?: undefined | number;
      "stream"?: undefined | boolean;
      "stdin"?: undefined | boolean;
      "tty"?: undefined | boolean;
      "rows"?: undefined | number;
      "cols"?: undefined | number;
      "queue_if_offline"?: undefined | boolean;
    };
    answer: {
      "id": string;
      "command": string;
      /** queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, superseded or lost */
      "status": string;
      /** Name of the cluster */
      "cluster": string;
      "cluster_id": string;
      "created_at": string;
      "created_by": string;
      "sent_at": string | null;
      "acknowledged_at": string | null;
      "cancel_requested_at": string | null;
      "finished_at": string | null;
      "result": Record<string, unknown> | null;
      "error": {
        "code": string;
        "message": string;
        "details"?: undefined | Record<string, unknown>;
      } | null;
    };
  };
  /** Get the logs of a container as text, or stream them with Accept: text/event-stream */
  'GET /{cluster}/logs': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "pod": string;
      "namespace": string;
      "container"?: undefined | string;
      "tail_lines"?: undefined | number;
      "follow"?: undefined | boolean;
      "since_time"?: undefined | string;
      "since_seconds"?: undefined | number;
      "previous"?: undefined | boolean;
      "timestamps"?: undefined | boolean;
      "limit_bytes"?: undefined | number;
      "resume_after"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** List the nodes of a cluster */
  'GET /{cluster}/nodes': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "name"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
    };
    body: undefined;
    answer: {
      "nodes": ({
        "name": string;
        /** unknown: the kubelet has stopped reporting */
        "state": "ready" | "not_ready" | "unknown";
        "ready": boolean;
        /** False if the node is cordoned */
        "schedulable": boolean;
        /** Such as MemoryPressure or DiskPressure */
        "pressures": (string)[];
        "roles": (string)[];
        "created_at": string | null;
        "kubelet_version": string | null;
        "os_image": string | null;
        "architecture": string | null;
        "internal_ip": string | null;
        "cpu_capacity_cores": number | null;
        "memory_capacity_bytes": number | null;
        "pods_capacity": number | null;
        /** Null if the cluster serves no metrics */
        "cpu_usage_cores": number | null;
        "memory_usage_bytes": number | null;
      })[];
      "next_cursor": string | null;
    };
  };
  /** List the pods of a cluster */
  'GET /{cluster}/pods': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "name"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "namespace"?: undefined | string;
      "node"?: undefined | string;
      "label_selector"?: undefined | string;
    };
    body: undefined;
    answer: {
      "pods": ({
        "namespace": string;
        "name": string;
        /** As kubectl shows it: Running, CrashLoopBackOff, Init:1/2, Terminating */
        "state": string;
        /** Why the pod is not running, as reported by the kubelet or scheduler; null if nothing is wrong */
        "message": string | null;
        "phase": string | null;
        "ready": boolean;
        "ready_containers": number;
        "total_containers": number;
        "restarts": number;
        "created_at": string | null;
        "node": string | null;
        "ip": string | null;
        /** Workload that created the pod; the Deployment for pods of its ReplicaSets */
        "owner": {
          "kind": string;
          "name": string;
        } | null;
        "default_container": string | null;
        "containers": ({
          "name": string;
          "image": string | null;
          /** Init container, or a sidecar that runs beside the others */
          "init": boolean;
          /** Running, or the reason it is not: CrashLoopBackOff, ImagePullBackOff, Completed */
          "state": string;
          "ready": boolean;
          "restarts": number;
        })[];
        /** Null if the cluster serves no metrics */
        "cpu_usage_cores": number | null;
        "memory_usage_bytes": number | null;
      })[];
      "next_cursor": string | null;
    };
  };
  /** Get the live state and heartbeat history */
  'GET /{cluster}/status': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "since"?: undefined | string;
      "limit"?: undefined | number;
    };
    body: undefined;
    answer: {
      "cluster": {
        "id": string;
        "name": string;
        /** pending: no agent has connected yet; offline: three heartbeats missed */
        "status": "pending" | "online" | "offline";
        "connected": boolean;
        "created_at": string;
        "connected_at": string | null;
        "disconnected_at": string | null;
        "last_seen_at": string | null;
        "agent_version": string | null;
        "kubernetes_version": string | null;
        "protocol": "svc" | "contract" | null;
        "capabilities": (string)[];
        "health": string | null;
        "nodes": number | null;
        "pods": number | null;
        "services": number | null;
        "status_at": string | null;
        "heartbeat": {
          "status": string;
          /** Fraction of the nodes' allocatable resources, 0 to 1 */
          "cpu_usage": number;
          "memory_usage": number;
          "active_pods": number;
        } | null;
        "clock_skew_seconds": number | null;
        "warnings": ({
          /** CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a permission; TWO_AGENTS: two agents use the same token and replace each other */
          "code": "CLOCK_SKEW" | "LIMITED" | "TWO_AGENTS";
          "message": string;
        })[];
      };
      "heartbeats": ({
        "at": string;
        "status": string | null;
        "cpu_usage": number;
        "memory_usage": number;
        "active_pods": number;
        /** Heartbeats in this point; more than 1 means a ten-minute average */
        "samples": number;
      })[];
    };
  };
  /** Rotate the agent token; the old token ends immediately or after an overlap */
  'POST /{cluster}/token': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      "overlap_seconds"?: undefined | number;
    } | null;
    answer: {
      "id": string;
      "name": string;
      /** Token of the agent; shown only once */
      "token": string;
      "install": {
        "helm": string;
        "kubectl": string;
        /** Command that updates only the token of an installed agent */
        "secret": string;
        /** Command to run first on each node that cannot pull the agent's image; available: whether the platform serves an image */
        "image": {
          "command": string;
          "available": boolean;
        } | null;
      };
    };
  };
  /** Get the tunnel URLs of a cluster, for programs and kubeconfigs */
  'GET /{cluster}/tunnel-endpoints': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: {
      "cluster_id": string;
      "cluster_name": string;
      /** Base URL for programs with a token; append /{service}/<path> */
      "host_url": string;
      /** Server URL for a kubeconfig */
      "kubernetes_url": string;
      "certificate_authority": string | null;
    };
  };
  /** Create a temporary browser link to a forwarded service */
  'POST /{cluster}/tunnel-links': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Name of a service that the agent forwards */
      "service": string;
      "expires_in_seconds"?: undefined | number;
    };
    answer: {
      "url": string;
      "expires_at": string;
    };
  };
  /** List the Deployments, StatefulSets, DaemonSets, CronJobs and Jobs of a cluster, grouped by kind */
  'GET /{cluster}/workloads': {
    query: {
      "workspace_uuid"?: undefined | string;
      "team_uuid"?: undefined | string;
      "name"?: undefined | string;
      "page_size"?: undefined | number;
      "cursor"?: undefined | string;
      "namespace"?: undefined | string;
      "kind"?: undefined | "Deployment" | "StatefulSet" | "DaemonSet" | "CronJob" | "Job";
    };
    body: undefined;
    answer: {
      "workloads": ({
        /** Kubernetes kind */
        "kind": "Deployment" | "StatefulSet" | "DaemonSet" | "CronJob" | "Job";
        "namespace": string;
        "name": string;
        /** available, progressing, failed or scaled_down; suspended if paused, completed for a Job, scheduled for a CronJob */
        "state": string;
        /** Ready pods; for a Job, succeeded pods; for a CronJob, active Jobs */
        "ready": number;
        /** Desired pods */
        "desired": number;
        /** Pods of the latest template */
        "updated": number;
        "images": (string)[];
        "created_at": string | null;
        /** Selector of its pods, for `label_selector` of /pods; null if it cannot be expressed as one */
        "selector": string | null;
      })[];
      "next_cursor": string | null;
    };
  };
}
