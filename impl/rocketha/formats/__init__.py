"""RocketMQ's bytes: what travels between replicas and what lies on their disks."""
