"""Dead letters: records that could not be processed. Their headers, why they failed, how far they decode, their repair.

The room needs neither Spark nor a Kafka client. `magicbyte dead-letter` reads and sends letters; pipelines write them.
"""
